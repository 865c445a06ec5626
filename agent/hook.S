// What runs at every entry and exit of a traced function. It may use nothing of the program's: all registers and flags
// are as before when it goes on (a caller that knows its callee may rely on any of them), vector registers are not
// touched, and below the stack pointer it uses no more than it pushes.
//
// At an entry the return slot holds the genuine return address, A being its address. It goes into a record at a place
// that is found from A alone (layout.h), and the function is called anew with the slot reused: `call` writes the
// address of flamb_return_point to A. So arguments on the stack do not move, calls and returns stay paired, and a jump
// over frames (an exception, longjmp) cannot bring the records out of step with the stack.

        .set    MIRROR, 0x100000000000          // layout.h: mirror
        .set    RECORD_RETURN, 0                // Record
        .set    RECORD_ENTERED, 8
        .set    RECORD_NODE, 16
        .set    RECORD_PREVIOUS, 24
        .set    NODE_TICKS, 0                   // Node
        .set    NODE_CALLS, 8
        .set    NODE_LAST, 16
        .set    NODE_CONTINUATION, 24
        .set    NODE_FUNCTION, 32
        .set    NODE_FOLLOWER, 40
        .set    TRIGGERS, 56                    // Agent
        .set    CONTINUATIONS, 48
        .set    HOT_CURRENT, 0                  // Hot
        .set    HOT_LOW, 8
        .set    HOT_SIZE, 16
        // The records of calls lie below this bit's value, those of invocations above it: mmap gives high addresses.
        .set    INVOCATION_BIT, 46

        // The record's address from that of the slot.
        .macro  mirror address, scratch
        shlq    $(64 - 43), \address            // layout.h: mirrored_bits
        shrq    $(64 - 43 - 2), \address
        movabsq $MIRROR, \scratch
        addq    \scratch, \address
        .endm

        .macro  push_register register
        pushq   \register
        .cfi_adjust_cfa_offset 8
        .endm

        .macro  pop_register register
        popq    \register
        .cfi_adjust_cfa_offset -8
        .endm

        // rax, and the flags in ax.
        .macro  push_flags
        push_register %rax
        lahf
        seto    %al
        push_register %rax
        .endm

        .macro  pop_flags
        pop_register %rax
        addb    $0x7f, %al
        sahf
        pop_register %rax
        .endm

        .macro  push_rest
        push_register %r8
        push_register %r9
        push_register %r10
        push_register %r11
        .endm

        .macro  pop_rest
        pop_register %r11
        pop_register %r10
        pop_register %r9
        pop_register %r8
        .endm

        .macro  pop_saved
        pop_register %rdi
        pop_register %rsi
        pop_register %rdx
        pop_register %rcx
        pop_flags
        .endm

        .section .text.hook, "ax", @progbits
        .globl  flamb_hook_start, flamb_hook_end, flamb_enter, flamb_return_point, flamb_done
        .hidden flamb_hook_start, flamb_hook_end, flamb_enter, flamb_return_point, flamb_done
        .hidden flamb_agent, flamb_hot, flamb_enter_slowly, flamb_exit_slowly
flamb_hook_start:

// What an entry saves, the function's id above it, and the return address.
        .set    ID, 48
        .set    SLOT, 56

// The rest of flamb_enter, which has saved all that. ecx: the id.
        .p2align 5
        .type   flamb_enter_rest, @function
flamb_enter_rest:
        .cfi_startproc
        .cfi_def_cfa_offset SLOT + 8
.Lother:                                        // rdi: the child that was entered last
        movq    NODE_FOLLOWER(%rdi), %rdi
        cmpl    %ecx, NODE_FUNCTION(%rdi)
        jne     .Lslow
        movq    RECORD_NODE(%rdx), %rcx
        movq    %rdi, NODE_LAST(%rcx)
        jmp     .Lfound
.Lidle:
        cmpl    TRIGGERS+flamb_agent(%rip), %ecx
        jae     .Lunhooked
.Lslow:
        push_rest
        movl    %ecx, %edi
        leaq    SLOT+32(%rsp), %rsi
        cld
        call    flamb_enter_slowly
        pop_rest
        movl    ID(%rsp), %ecx
        testq   %rax, %rax
        jz      .Lunhooked
        movq    %rax, %rdi
        movq    RECORD_NODE(%rax), %rdx
        movq    NODE_CONTINUATION(%rdx), %rdx
        movq    %rdx, ID(%rsp)
        jmp     .Lenter

.Lunhooked:                                     // to the function, as if nothing had been there
        movq    CONTINUATIONS+flamb_agent(%rip), %rdx
        movq    (%rdx, %rcx, 8), %rdx
        movq    %rdx, ID(%rsp)
        pop_saved
        leaq    8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        jmp     *-8(%rsp)
        .cfi_endproc
        .size   flamb_enter_rest, . - flamb_enter_rest

// From a stub: the function's id lies below the return address.
        .p2align 5
        .type   flamb_enter, @function
flamb_enter:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        push_flags
        push_register %rcx
        push_register %rdx
        push_register %rsi
        push_register %rdi
        movl    ID(%rsp), %ecx
        movq    flamb_hot@gottpoff(%rip), %rsi
        movq    %fs:HOT_CURRENT(%rsi), %rdx
        testq   %rdx, %rdx
        jz      .Lidle
        leaq    SLOT(%rsp), %rax
        movq    %rax, %rdi
        subq    %fs:HOT_LOW(%rsi), %rdi
        cmpq    %fs:HOT_SIZE(%rsi), %rdi
        jae     .Lslow
        mirror  %rax, %rdi
        cmpq    %rdx, %rax                      // not below the innermost call: that one is over
        jae     .Lslow
        movq    RECORD_NODE(%rdx), %rdi
        movq    NODE_LAST(%rdi), %rdi
        cmpl    %ecx, NODE_FUNCTION(%rdi)
        jne     .Lother
.Lfound:
        movq    %rdx, RECORD_PREVIOUS(%rax)
        movq    SLOT(%rsp), %rdx
        movq    %rdx, RECORD_RETURN(%rax)
        movq    %rdi, RECORD_NODE(%rax)
        incq    NODE_CALLS(%rdi)
        movq    NODE_CONTINUATION(%rdi), %rdx
        movq    %rdx, ID(%rsp)
        movq    %rax, %fs:HOT_CURRENT(%rsi)     // only now: a signal handler may come at any instruction
        movq    %rax, %rdi

.Lenter:                                        // rdi: the record. The continuation lies where the id was.
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        movq    %rax, RECORD_ENTERED(%rdi)
        pop_saved
        leaq    16(%rsp), %rsp
        .cfi_adjust_cfa_offset -16
        // call *-16(%rsp). Unwinders look a caller up by the byte before its return address: from the second byte on, the
        // genuine return address is in the record.
        .byte   0xff
        .cfi_endproc
        .size   flamb_enter, . - flamb_enter

// Where hooked calls return to. The frame is that of a call whose return address is in the record of CFA - 16, and whose
// caller's stack pointer is CFA - 8. (With the CFA itself in its place libgcc takes two frames for one.)
        .type   flamb_return_point, @function
        .cfi_startproc simple
        .cfi_def_cfa %rsp, 8
        // rsp: DW_CFA_val_expression { lit8; minus }, the CFA being on the expression's stack.
        .cfi_escape 0x16, 7, 2, 0x38, 0x1c
        // Return address: DW_CFA_expression { lit16; minus; lit21; shl; lit19; shr; const8u MIRROR; plus }.
        .cfi_escape 0x10, 16, 16, 0x40, 0x1c, 0x45, 0x24, 0x43, 0x25, 0x0e, 0, 0, 0, 0, 0, 0x10, 0, 0, 0x22
        .byte   0x54, 0x24, 0xf0
flamb_return_point:
        leaq    -8(%rsp), %rsp
        .cfi_adjust_cfa_offset 8
        push_flags
        push_register %rcx
        push_register %rdx
        push_register %rsi
        push_register %rdi
        .set    RETURN_SLOT, 48
        rdtsc
        shlq    $32, %rdx
        orq     %rax, %rdx
        leaq    RETURN_SLOT(%rsp), %rax
        mirror  %rax, %rcx
        movq    flamb_hot@gottpoff(%rip), %rsi
        cmpq    %fs:HOT_CURRENT(%rsi), %rax
        jne     .Lexit_slowly
        movq    RECORD_PREVIOUS(%rax), %rcx
        btq     $INVOCATION_BIT, %rcx
        jc      .Lexit_slowly
        movq    RECORD_NODE(%rax), %rdi
        subq    RECORD_ENTERED(%rax), %rdx
        addq    %rdx, NODE_TICKS(%rdi)
        movq    %rcx, %fs:HOT_CURRENT(%rsi)
        movq    RECORD_RETURN(%rax), %rcx
.Lreturn:                                       // rcx: the genuine return address
        movq    %rcx, RETURN_SLOT(%rsp)
        .cfi_remember_state
        pop_saved
        ret
        .cfi_restore_state
.Lexit_slowly:
        push_rest
        movq    %rax, %rdi
        movq    %rdx, %rsi
        cld
        call    flamb_exit_slowly
        pop_rest
        movq    %rax, %rcx
        jmp     .Lreturn
        .cfi_endproc
        .size   flamb_return_point, . - flamb_return_point

// The debugger has a breakpoint here.
        .p2align 4
        .type   flamb_done, @function
flamb_done:
        .cfi_startproc
        nop
        ret
        .cfi_endproc
        .size   flamb_done, . - flamb_done

// A function that does nothing, and its stub: what hooks cost is measured on it.
        .globl  flamb_probe, flamb_probe_continuation
        .hidden flamb_probe, flamb_probe_continuation
        .p2align 4
        .type   flamb_probe, @function
flamb_probe:
        .cfi_startproc
        pushq   $1
        .cfi_adjust_cfa_offset 8
        jmp     flamb_enter
        .cfi_adjust_cfa_offset -8
flamb_probe_continuation:
        ret
        .cfi_endproc
        .size   flamb_probe, . - flamb_probe

// One that calls it rdi times.
        .globl  flamb_probe_loop, flamb_probe_loop_continuation
        .hidden flamb_probe_loop, flamb_probe_loop_continuation
        .p2align 4
        .type   flamb_probe_loop, @function
flamb_probe_loop:
        .cfi_startproc
        pushq   $0
        .cfi_adjust_cfa_offset 8
        jmp     flamb_enter
        .cfi_adjust_cfa_offset -8
flamb_probe_loop_continuation:
        call    flamb_probe
        decq    %rdi
        jnz     flamb_probe_loop_continuation
        ret
        .cfi_endproc
        .size   flamb_probe_loop, . - flamb_probe_loop

flamb_hook_end:
        .section .note.GNU-stack, "", @progbits
