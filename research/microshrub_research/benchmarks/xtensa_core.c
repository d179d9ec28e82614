/* Calls kernels in an emulated Xtensa core, as MicroPython would.

xtensa_core.py lays the memory out: the words of BASE say where things are; behind it are objects,
buffers and what is to be done, in the order of PLAN: 0 ends; 1, a function's number, the count of
its arguments, these, and the result; 2, an address, a count, and so many words to put there; 3 is
a mark in the core's log. */

typedef __UINTPTR_TYPE__ word_t;
typedef __INT32_TYPE__ int32_t;

#define BASE ((volatile word_t *)0x20000000)
enum { MODULE, START, PLAN, FUNCTIONS, POOL, EMPTY_TUPLE, FROM, LENGTH };

typedef struct {
    word_t type, context, row;
    word_t (*code)();
} function_t;

static word_t system_call(word_t number, word_t a, word_t b, word_t c) {
    register word_t a2 __asm__("a2") = number;
    register word_t a6 __asm__("a6") = a;
    register word_t a3 __asm__("a3") = b;
    register word_t a4 __asm__("a4") = c;
    __asm__ volatile(".byte 0x00, 0x50, 0x00" : "+r"(a2) : "r"(a6), "r"(a3), "r"(a4) : "memory");
    return a2;
}

static void leave(word_t code) {
    system_call(118, code, 0, 0); /* exit */
}

__attribute__((noinline)) void mark(void) { __asm__ volatile("" ::: "memory"); }

word_t native_from_obj(word_t object, word_t kind) {
    return object & 1 ? (word_t)((int32_t)object >> 1) : ((word_t *)object)[1];
}

word_t native_to_obj(word_t value, word_t kind) {
    if ((int32_t)(value ^ value << 1) >= 0) {
        return value << 1 | 1;
    }
    BASE[POOL] += 8; /* an object that holds a long number */
    ((word_t *)BASE[POOL])[1] = value;
    return BASE[POOL];
}

word_t swap_globals(word_t globals) { return globals; }

void store_global(word_t name, word_t object) { ((word_t *)BASE[FUNCTIONS])[name] = object; }

word_t load_global(word_t name) {
    word_t found = name ? ((word_t *)BASE[FUNCTIONS])[name] : 0;
    if (!found) {
        leave(4);
    }
    return found;
}

word_t subscript(word_t tuple, word_t index, word_t value) {
    return ((word_t *)tuple)[2 + (index >> 1)];
}

word_t call_function(word_t function, word_t count, word_t *arguments) {
    return ((function_t *)function)->code(function, count & 255, 0, arguments);
}

word_t new_tuple(word_t count, word_t items) { return BASE[EMPTY_TUPLE]; }

word_t make_function(const word_t *raw, word_t context, word_t defaults) {
    BASE[POOL] += sizeof(function_t);
    function_t *made = (function_t *)BASE[POOL];
    made->context = context;
    made->row = raw[2];
    made->code = (word_t(*)())raw[1];
    return (word_t)made;
}

void wrong_count(word_t given, word_t keywords, word_t signature) { leave(3); }

static int32_t quotient(int32_t a, int32_t b) {
    register int32_t x __asm__("a8") = a;
    register int32_t y __asm__("a9") = b;
    __asm__(".byte 0x90, 0x88, 0xd2" : "+r"(x) : "r"(y)); /* quos a8, a8, a9 */
    return x;
}

int32_t floor_divide(int32_t a, int32_t b) {
    int32_t q = quotient(a, b);
    return q - (q * b != a && (a ^ b) < 0);
}

int32_t floor_modulo(int32_t a, int32_t b) {
    int32_t r = a - quotient(a, b) * b;
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}

/* Runs the rest so deep that all of the core's register windows are in use */
__attribute__((noinline)) static word_t within(word_t depth, word_t (*code)(), word_t *given) {
    if (depth) {
        return within(depth - 1, code, given) + (word_t)(depth & 0);
    }
    return code(given[0], given[1], 0, given + 2);
}

__attribute__((noinline)) static void work(void) {
    word_t module = BASE[MODULE];
    if (module) {
        ((word_t(*)())BASE[START])(module, 0, 0, 0);
    }
    word_t pool = BASE[POOL];
    const word_t *plan = (const word_t *)BASE[PLAN];
    while (*plan) {
        word_t what = *plan++;
        if (what == 3) {
            mark();
            continue;
        }
        if (what == 2) {
            word_t *target = (word_t *)*plan++;
            for (word_t count = *plan++; count; count--) {
                *target++ = *plan++;
            }
            continue;
        }
        word_t arguments[10], number = plan[0], count = plan[1];
        function_t *called = (function_t *)((word_t *)BASE[FUNCTIONS])[number];
        BASE[POOL] = pool;
        arguments[0] = (word_t)called;
        arguments[1] = count;
        for (word_t i = 0; i < count; i++) {
            arguments[2 + i] = plan[2 + i];
        }
        word_t found = within(number % 16, called->code, arguments), expected = plan[2 + count];
        if (found != expected && !(found & 1) && !(expected & 1)) { /* two long numbers */
            found = ((word_t *)found)[1], expected = ((word_t *)expected)[1];
        }
        if (found != expected) {
            leave(2);
        }
        plan += 3 + count;
    }
    for (word_t at = 0; at < BASE[LENGTH]; at += 4096) {
        system_call(13, 1, BASE[FROM] + at, BASE[LENGTH] - at < 4096 ? BASE[LENGTH] - at : 4096);
    }
    leave(0);
}

/* Nobody has called it. So it says itself where a caller's frame would be: its registers go there,
once others need them. */
void begin(void) {
    __asm__ volatile("addi a8, a1, -16\naddi a9, a1, 32\ns32i a9, a8, 4" : : : "a8", "a9", "memory");
    work();
    leave(0);
}
