"""libflamb.so exports what core/c_api.h declares and nothing else, and Python declares the same.

exports_test.py NM LIBRARY HEADER PYTHON_DIRECTORY
"""

import re
import subprocess
import sys
from pathlib import Path

nm, library, header, python = sys.argv[1:]
listed = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
exported = {line.split()[-1] for line in listed.splitlines()}
text = Path(header).read_text(encoding="utf-8")
declared = set(re.findall(r"^FLAMB_EXPORT .*?\b(flamb_\w+)\(", text, re.MULTILINE))
callbacks = re.findall(r"int32_t \(\*(\w+)\)", text)

sys.path.insert(0, python + "/flamb_gdb")
import c_api  # noqa: E402  pylint: disable=wrong-import-position,import-error

in_python = set(c_api.PROTOTYPES) | {"flamb_abi_version"}
failures = []
if exported != declared:
    failures.append(f"not declared: {exported - declared}; not exported: {declared - exported}")
if in_python != declared:
    failures.append(f"only in Python: {in_python - declared}; only in the header: {declared - in_python}")
if callbacks != [name for name, _ in c_api.CALLBACKS]:
    failures.append(f"callbacks: expected {callbacks}, got {[name for name, _ in c_api.CALLBACKS]}")
print("\n".join(failures))
sys.exit(1 if failures else 0)
