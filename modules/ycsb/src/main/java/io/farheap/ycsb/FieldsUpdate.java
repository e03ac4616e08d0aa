package io.farheap.ycsb;

import io.farheap.store.contract.Update;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/** Replaces some fields of a record in one update: in place if their lengths stay the same. One thread. */
final class FieldsUpdate implements Update {

    private MemorySegment changed = Arena.ofAuto().allocate(1024, Long.BYTES);
    private long changedBytes;

    /** Sets the fields that the next updates replace. */
    void use(Map<String, byte[]> values) {
        changedBytes = YcsbFields.bytes(values);
        if (changed.byteSize() < changedBytes) {
            changed = Arena.ofAuto().allocate(2 * changedBytes, Long.BYTES);
        }
        YcsbFields.encode(values, changed);
    }

    /** An absent record stays absent. */
    @Override
    public int initialBytes(long argument) {
        return -1;
    }

    @Override
    public void initial(MemorySegment value, long offset, int bytes, long argument) {
        throw new IllegalStateException("an absent record was to stay so");
    }

    @Override
    public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
        for (long at = 0; at < changedBytes; at = YcsbFields.next(changed, at)) {
            long there = YcsbFields.find(value, offset, offset + bytes, changed, at);
            if (there < 0 || YcsbFields.valueBytes(value, there) != YcsbFields.valueBytes(changed, at)) {
                return false;
            }
        }
        for (long at = 0; at < changedBytes; at = YcsbFields.next(changed, at)) {
            long there = YcsbFields.find(value, offset, offset + bytes, changed, at);
            MemorySegment.copy(
                    changed,
                    YcsbFields.valueAt(changed, at),
                    value,
                    YcsbFields.valueAt(value, there),
                    YcsbFields.valueBytes(changed, at));
        }
        return true;
    }

    @Override
    public int copyBytes(MemorySegment old, long oldOffset, int oldBytes, long argument) {
        long kept = 0;
        for (long at = oldOffset; at < oldOffset + oldBytes; at = YcsbFields.next(old, at)) {
            if (YcsbFields.find(changed, 0, changedBytes, old, at) < 0) {
                kept += YcsbFields.next(old, at) - at;
            }
        }
        return Math.toIntExact(kept + changedBytes);
    }

    /** Writes the fields that stay, then the new ones. */
    @Override
    public void copy(
            MemorySegment old,
            long oldOffset,
            int oldBytes,
            MemorySegment value,
            long offset,
            int bytes,
            long argument) {
        long to = offset;
        for (long at = oldOffset; at < oldOffset + oldBytes; at = YcsbFields.next(old, at)) {
            if (YcsbFields.find(changed, 0, changedBytes, old, at) < 0) {
                long length = YcsbFields.next(old, at) - at;
                MemorySegment.copy(old, at, value, to, length);
                to += length;
            }
        }
        MemorySegment.copy(changed, 0, value, to, changedBytes);
    }
}
