/* SPDX-License-Identifier: MIT */
/* stack.c -- switches between stacks, by a few instructions on known processors, and by
 * ucontext on others.
 *
 * A switch is an ordinary call, so only those registers are kept that a call preserves, with
 * the modes of floating point.  The signal mask belongs to the thread and is not
 * switched; ucontext would ask the kernel for it each time.  If the processor has a
 * shadow stack, ucontext is used, because the C library has a shadow stack for each
 * context.
 *
 * Each switch is reported to the sanitizers: to ASan the memory of the stack, to TSan
 * the running fiber. */
#include "base/os/stack.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KNOWS_STACKS 1
#endif
#if __has_feature(thread_sanitizer)
#define KNOWS_FIBERS 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define KNOWS_STACKS 1
#endif
#ifdef __SANITIZE_THREAD__
#define KNOWS_FIBERS 1
#endif
#ifdef KNOWS_STACKS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef KNOWS_FIBERS
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__) && defined(__LP64__)
#define BY_X86_64 1
#elif defined(__aarch64__)
#define BY_AARCH64 1
#endif
#if defined(__CET__) || !(defined(BY_X86_64) || defined(BY_AARCH64))
#define BY_UCONTEXT 1 /* always, or if there is a shadow stack */
#include <ucontext.h>
#endif

/* Enough for the deepest call, which is resolving a host name by the C library.  This
 * is address space, and not memory. */
enum { STACK_SIZE = 256 * 1024 };

struct dlock_stack {
    char *low; /* of the mapping, which begins with the guard; NULL: the thread's own */
    size_t size;
    void (*run)(void *arg);
    void *arg;
    void *top; /* where it was left */
#ifdef BY_UCONTEXT
    ucontext_t context;
#endif
#ifdef KNOWS_STACKS
    const void *bottom; /* without the guard */
    size_t usable;
#endif
#ifdef KNOWS_FIBERS
    void *tsan;
#endif
};

#ifdef KNOWS_STACKS
/* The stack that was left last; ASan then reports where a thread's own stack is. */
static _Thread_local struct dlock_stack *left;
#endif

/* The first function on a new stack. */
static void begin(struct dlock_stack *stack)
{
#ifdef KNOWS_STACKS
    __sanitizer_finish_switch_fiber(NULL, &left->bottom, &left->usable);
#endif
    stack->run(stack->arg);
    abort(); /* it may not return */
}

/* Must ucontext be used, because the processor has a shadow stack? */
static bool needs_ucontext(void)
{
#if defined(BY_X86_64) && defined(BY_UCONTEXT)
    uint64_t shadow = 0; /* stays so without a shadow stack */

    __asm__ volatile("rdsspq %0" : "+r"(shadow));
    return shadow != 0;
#elif defined(BY_UCONTEXT)
    return true;
#else
    return false;
#endif
}

/* ---- the switch itself ---- */

#ifdef BY_X86_64

/* Push the registers that a call preserves onto the stack that is left, and pop them
 * from the stack that is entered. */
void dlock_stack_jump(void **left, void *entered);
__asm__(".text\n"
        ".balign 16\n"
        ".hidden dlock_stack_jump\n"
        ".globl dlock_stack_jump\n"
        ".type dlock_stack_jump, @function\n"
        "dlock_stack_jump:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size dlock_stack_jump, .-dlock_stack_jump\n"
        ".balign 16\n"
        ".hidden dlock_stack_entry\n"
        ".globl dlock_stack_entry\n"
        ".type dlock_stack_entry, @function\n"
        "dlock_stack_entry:\n" /* the stack is in rbx, the function in r12 */
        "    movq %rbx, %rdi\n"
        "    xorl %ebp, %ebp\n"
        "    call *%r12\n"
        "    ud2\n"
        ".size dlock_stack_entry, .-dlock_stack_entry\n");
void dlock_stack_entry(void);

/* The frame that dlock_stack_jump() finds on a stack that it enters for the first time. */
struct frame {
    uint32_t mxcsr, x87;
    void *r15, *r14, *r13, *r12, *rbx, *rbp;
    void (*back)(void);
    void *end[2]; /* so that the stack is aligned as in any call */
};

static void prepare(struct dlock_stack *stack)
{
    struct frame *frame = (struct frame *)(stack->low + stack->size - sizeof(*frame));
    uint32_t mxcsr;
    uint16_t x87;

    _Static_assert(sizeof(struct frame) % 16 == 0, "the top is aligned");
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
    *frame = (struct frame){.mxcsr = mxcsr, .x87 = x87, .rbx = stack,
                            .back = dlock_stack_entry};
    *(void (**)(struct dlock_stack *))&frame->r12 = begin;
    stack->top = frame;
}

#endif
#ifdef BY_AARCH64

void dlock_stack_jump(void **left, void *entered);
__asm__(".text\n"
        ".balign 16\n"
        ".hidden dlock_stack_jump\n"
        ".globl dlock_stack_jump\n"
        ".type dlock_stack_jump, %function\n"
        "dlock_stack_jump:\n"
        "    sub sp, sp, #176\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mrs x9, fpcr\n"
        "    str x9, [sp, #160]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldr x9, [sp, #160]\n"
        "    msr fpcr, x9\n"
        "    add sp, sp, #176\n"
        "    ret\n" /* where branch targets are enforced, a branch would need a landing pad */
        ".size dlock_stack_jump, .-dlock_stack_jump\n"
        ".balign 16\n"
        ".hidden dlock_stack_entry\n"
        ".globl dlock_stack_entry\n"
        ".type dlock_stack_entry, %function\n"
        "dlock_stack_entry:\n" /* the stack is in x19, the function in x20 */
        "    hint #36\n"       /* a branch may end here, where branches are checked */
        "    mov x0, x19\n"
        "    mov x29, xzr\n"
        "    mov x30, xzr\n"
        "    blr x20\n"
        "    brk #0\n"
        ".size dlock_stack_entry, .-dlock_stack_entry\n");
void dlock_stack_entry(void);

struct frame {
    void *x19_to_x28[10];
    void *x29;
    void (*x30)(void);
    uint64_t d8_to_d15[8];
    uint64_t fpcr, unused;
};

static void prepare(struct dlock_stack *stack)
{
    struct frame *frame = (struct frame *)(stack->low + stack->size - sizeof(*frame));
    uint64_t fpcr;

    _Static_assert(sizeof(struct frame) == 176, "as many bytes as the instructions say");
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    *frame = (struct frame){.x30 = dlock_stack_entry, .fpcr = fpcr};
    frame->x19_to_x28[0] = stack;
    *(void (**)(struct dlock_stack *))&frame->x19_to_x28[1] = begin;
    stack->top = frame;
}

#endif
#if !defined(BY_X86_64) && !defined(BY_AARCH64)

static void dlock_stack_jump(void **left, void *entered)
{
    (void)left;
    (void)entered;
    abort(); /* ucontext does */
}

static void prepare(struct dlock_stack *stack)
{
    (void)stack;
}

#endif
#ifdef BY_UCONTEXT

/* makecontext() passes arguments of 32 bits, so the pointer is passed as two of
 * them. */
static void enter(unsigned high, unsigned low)
{
    begin((struct dlock_stack *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void prepare_context(struct dlock_stack *stack)
{
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t self = (uintptr_t)stack;

    (void)getcontext(&stack->context);
    stack->context.uc_stack.ss_sp = stack->low + guard;
    stack->context.uc_stack.ss_size = stack->size - guard;
    stack->context.uc_link = NULL;
    makecontext(&stack->context, (void (*)(void))(uintptr_t)enter, 2,
                (unsigned)(self >> 32), (unsigned)self);
}

#endif

static void jump(struct dlock_stack *from, struct dlock_stack *to)
{
#ifdef BY_UCONTEXT
    if (needs_ucontext()) {
        (void)swapcontext(&from->context, &to->context);
        return;
    }
#endif
    dlock_stack_jump(&from->top, to->top);
}

/* ---- stacks ---- */

static bool map(struct dlock_stack *stack)
{
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    void *low = mmap(NULL, STACK_SIZE + guard, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

    if (low == MAP_FAILED)
        return false;
    if (mprotect(low, guard, PROT_NONE) != 0) {
        (void)munmap(low, STACK_SIZE + guard);
        return false;
    }
    stack->low = low;
    stack->size = STACK_SIZE + guard;
#ifdef KNOWS_STACKS
    stack->bottom = stack->low + guard;
    stack->usable = STACK_SIZE;
#endif
    return true;
}

struct dlock_stack *dlock_stack_new(void (*run)(void *arg), void *arg)
{
    struct dlock_stack *stack = calloc(1, sizeof(*stack));

    if (stack == NULL)
        return NULL;
    stack->run = run;
    stack->arg = arg;
    if (!map(stack)) {
        free(stack);
        return NULL;
    }
    if (!needs_ucontext())
        prepare(stack);
#ifdef BY_UCONTEXT
    else
        prepare_context(stack);
#endif
#ifdef KNOWS_FIBERS
    stack->tsan = __tsan_create_fiber(0);
#endif
    return stack;
}

void dlock_stack_free(struct dlock_stack *stack)
{
    if (stack == NULL)
        return;
#ifdef KNOWS_FIBERS
    if (stack->low != NULL)
        __tsan_destroy_fiber(stack->tsan);
#endif
#ifdef KNOWS_STACKS
    if (stack->low != NULL) /* functions on the stack never returned, so ASan still has
                             * their marks */
        __asan_unpoison_memory_region(stack->bottom, stack->usable);
#endif
    if (stack->low != NULL)
        (void)munmap(stack->low, stack->size);
    free(stack);
}

struct dlock_stack *dlock_stack_of_thread(void)
{
    return calloc(1, sizeof(struct dlock_stack));
}

void dlock_stack_switch(struct dlock_stack *from, struct dlock_stack *to)
{
#ifdef KNOWS_STACKS
    void *fake = NULL;

    left = from;
    __sanitizer_start_switch_fiber(&fake, to->bottom, to->usable);
#endif
#ifdef KNOWS_FIBERS
    if (from->low == NULL)
        from->tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    jump(from, to);
#ifdef KNOWS_STACKS
    __sanitizer_finish_switch_fiber(fake, &left->bottom, &left->usable);
#endif
}
