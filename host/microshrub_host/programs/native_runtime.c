/* What a native module has besides kernels: how it begins, and how Python calls a kernel.

MicroPython's structures and the places in its table of functions are those of .mpy files of
version 6.3. The linker, machine_code.py, puts start() first, and behind the code a table of words:
where dispatch() is, how many functions there are and whether they become globals of the package,
whose name is behind theirs, or of the module itself, and for each of them a row of two words,

    where it is, counted from the row
    how it is called: its arguments in bits 0 to 2; bit 3, the first one is a tuple of buffers;
    bit 4, it returns a number; from bit 8 on, a bit for each argument that is an object

Executable memory of an ESP32 can only be read in whole words. */

typedef __UINTPTR_TYPE__ word_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT8_TYPE__ __attribute__((may_alias)) item8_t; /* a buffer is read at any width */
typedef __UINT16_TYPE__ __attribute__((may_alias)) item16_t;
typedef __INT32_TYPE__ __attribute__((may_alias)) item32_t;

enum { /* in the table of functions */
    CONST_NONE = 0,
    NATIVE_FROM_OBJ = 3,
    NATIVE_TO_OBJ = 4,
    SWAP_GLOBALS = 5,
    STORE_GLOBAL = 13,
    NEW_TUPLE = 19,
    MAKE_FUNCTION = 26,
    IMPORT_NAME = 35,
    ARG_CHECK_NUM = 44,
};
enum { TYPE_INT = 2, TYPE_POINTER = 4, VIPER = 4, MOST_ARGUMENTS = 7, MOST_BUFFERS = 16 };

typedef struct {
    word_t base, globals; /* of a module */
    const __UINT16_TYPE__ *names;
    const word_t *objects; /* the table of functions, and where the table of rows is */
} context_t;

typedef struct {
    word_t base;
    const context_t *context;
    const word_t *row;
    word_t code;
} function_t;

typedef struct {
    uint8_t indicator[2], kind, generator;
    const void *code;
    const word_t *row;
} raw_code_t;

typedef struct {
    word_t type, length, items[];
} tuple_t;

#define CALL(table, place, result, ...) ((result(*)(__VA_ARGS__))(table)[place])
#define NUMBER(object) ((int32_t)(object) >> 1)

word_t start(function_t *self) {
    const context_t *context = self->context;
    const word_t *table = (const word_t *)context->objects[0];
    const word_t *row = (const word_t *)((self->code & ~(word_t)1) + NUMBER(context->objects[1]));
    word_t count = row[1], globals = context->globals;
    if (row[2]) {
        const word_t *package = (const word_t *)CALL(table, IMPORT_NAME, word_t, word_t, word_t, word_t)(
            context->names[count + 1], table[CONST_NONE], 1 /* the number 0 */);
        globals = package[1];
    }
    word_t before = CALL(table, SWAP_GLOBALS, word_t, word_t)(globals);
    raw_code_t raw = {{0, 0}, VIPER, 0, (const char *)row + row[0], 0};
    row += 1;
    for (word_t i = 1; i <= count; i++) {
        raw.row = row += 2;
        word_t made = CALL(table, MAKE_FUNCTION, word_t, raw_code_t *, const context_t *, word_t)(
            &raw, context, 0);
        CALL(table, STORE_GLOBAL, void, word_t, word_t)(context->names[i], made);
    }
    CALL(table, SWAP_GLOBALS, word_t, word_t)(before);
    return table[CONST_NONE];
}

word_t dispatch(function_t *self, word_t given, word_t keywords, const word_t *arguments) {
    const word_t *table = (const word_t *)self->context->objects[0];
    const word_t *row = self->row;
    word_t how = row[1], count = how & 7;
    word_t values[MOST_ARGUMENTS], buffers[MOST_BUFFERS];
    __asm__("" : "=m"(values)); /* a kernel gets more of them than it takes */
    if (given != count || keywords) {
        CALL(table, ARG_CHECK_NUM, void, word_t, word_t, word_t)(
            given, keywords, count << 17 | count << 1);
    }
    for (word_t i = 0; i < count; i++) {
        word_t object = arguments[i];
        word_t kind = how >> i & 256 ? TYPE_POINTER : TYPE_INT;
        if (object & 1) {
            values[i] = NUMBER(object);
            continue;
        }
        if (how & 8) {
            how &= ~(word_t)8;
            const tuple_t *tuple = (const tuple_t *)object;
            const word_t *empty = (const word_t *)CALL(table, NEW_TUPLE, word_t, word_t, word_t)(0, 0);
            if (!(object & 3) && tuple->type == empty[0] && tuple->length <= MOST_BUFFERS) {
                for (word_t k = 0; k < tuple->length; k++) {
                    buffers[k] = CALL(table, NATIVE_FROM_OBJ, word_t, word_t, word_t)(
                        tuple->items[k], TYPE_POINTER);
                }
                values[i] = (word_t)buffers;
                continue;
            }
        }
        values[i] = CALL(table, NATIVE_FROM_OBJ, word_t, word_t, word_t)(object, kind);
    }
    word_t (*kernel)(word_t, word_t, word_t, word_t, word_t, word_t, word_t) =
        (void *)((word_t)row + row[0]);
    word_t found;
    if (count <= 4) { /* these are in registers */
        found = ((word_t(*)(word_t, word_t, word_t, word_t))kernel)(
            values[0], values[1], values[2], values[3]);
    } else {
        found = kernel(
            values[0], values[1], values[2], values[3], values[4], values[5], values[6]);
    }
    if (!(how & 16)) {
        return table[CONST_NONE];
    }
    if ((int32_t)(found ^ found << 1) >= 0) {
        return found << 1 | 1;
    }
    return CALL(table, NATIVE_TO_OBJ, word_t, word_t, word_t)(found, TYPE_INT);
}

#if defined(__ARM_ARCH_6M__) /* it cannot divide: MicroPython does, see viper */
#pragma GCC visibility push(hidden)
int32_t floor_div(int32_t a, int32_t b);
int32_t floor_mod(int32_t a, int32_t b);
#pragma GCC visibility pop
__asm__(".macro passed_on name place\n"
        ".section .text.\\name, \"ax\", %progbits\n"
        ".align 2\n.global \\name\n.type \\name, %function\n.thumb_func\n"
        "\\name: ldr r3, 1f\nbx r3\n1: .word mp_fun_table_\\place\n"
        ".size \\name, .-\\name\n"
        ".endm\n"
        "passed_on floor_div 46\npassed_on floor_mod 47\n.text\n");
#else
#if defined(__XTENSA__) /* the cores have an instruction that the compiler's assembler has not */
static int32_t quotient(int32_t a, int32_t b) {
    register int32_t x __asm__("a8") = a;
    register int32_t y __asm__("a9") = b;
    __asm__(".byte 0x90, 0x88, 0xd2" : "+r"(x) : "r"(y)); /* quos a8, a8, a9 */
    return x;
}
#define KEPT __attribute__((noinline))
#else
static int32_t quotient(int32_t a, int32_t b) { return a / b; }
#define KEPT static inline
#endif
KEPT int32_t floor_div(int32_t a, int32_t b) {
    int32_t q = quotient(a, b);
    return q - (q * b != a && (a ^ b) < 0);
}

KEPT int32_t floor_mod(int32_t a, int32_t b) {
    int32_t r = a - quotient(a, b) * b;
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}
#endif
