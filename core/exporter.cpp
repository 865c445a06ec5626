#include "exporter.h"
