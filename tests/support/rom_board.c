// A ROM partition for MicroPython's qemu port, which has no writable one: memory behind the
// board's files that behaves like NOR flash. Erasing sets bits, writing clears them.

#include <string.h>

#include "py/mperrno.h"
#include "py/objarray.h"
#include "extmod/vfs.h"

#define PAGE (4096)

static const MP_DEFINE_MEMORYVIEW_OBJ(partition, 'B', 0, ROM_BYTES, (void *)ROM_AT);

mp_obj_t mp_vfs_rom_ioctl(size_t n_args, const mp_obj_t *args) {
    uint8_t *rom = (uint8_t *)ROM_AT;
    mp_int_t command = mp_obj_get_int(args[0]);
    if (command == MP_VFS_ROM_IOCTL_GET_NUMBER_OF_SEGMENTS) {
        return MP_OBJ_NEW_SMALL_INT(1);
    }
    if (n_args < 2 || mp_obj_get_int(args[1]) != 0) {
        return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
    }
    if (command == MP_VFS_ROM_IOCTL_GET_SEGMENT) {
        return MP_OBJ_FROM_PTR(&partition);
    }
    if (command == MP_VFS_ROM_IOCTL_WRITE_PREPARE && n_args == 3) {
        mp_int_t pages = (mp_obj_get_int(args[2]) + PAGE - 1) / PAGE;
        if (pages < 0 || pages * PAGE > ROM_BYTES) {
            return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
        }
        memset(rom, 0xff, pages * PAGE);
        return MP_OBJ_NEW_SMALL_INT(4);  // the fewest bytes to write at once
    }
    if (command == MP_VFS_ROM_IOCTL_WRITE && n_args == 4) {
        mp_int_t offset = mp_obj_get_int(args[2]);
        mp_buffer_info_t from;
        mp_get_buffer_raise(args[3], &from, MP_BUFFER_READ);
        if (offset < 0 || offset + (mp_int_t)from.len > ROM_BYTES) {
            return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
        }
        for (size_t i = 0; i < from.len; i++) {
            rom[offset + i] &= ((uint8_t *)from.buf)[i];
        }
        return MP_OBJ_NEW_SMALL_INT(0);
    }
    if (command == MP_VFS_ROM_IOCTL_WRITE_COMPLETE) {
        return MP_OBJ_NEW_SMALL_INT(0);
    }
    return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
}
