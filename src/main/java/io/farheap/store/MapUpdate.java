package io.farheap.store;

import io.farheap.store.contract.Update;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The update of a map: replaces a value by another, or deletes it, if the present value meets a condition. Used for one
 * call.
 */
final class MapUpdate implements Update {

    /** The condition under which a value is changed. */
    enum UpdateCondition {
        ALWAYS,
        ABSENT,
        PRESENT,
        EQUAL
    }

    private final UpdateCondition when;
    private final byte @Nullable [] expected;
    private final byte @Nullable [] next;

    private byte @Nullable [] found;
    private boolean changed;

    /** @param next null to leave the key absent */
    MapUpdate(UpdateCondition when, byte @Nullable [] expected, byte @Nullable [] next) {
        this.when = when;
        this.expected = expected;
        this.next = next;
    }

    /** The value that was found, or null if the key was absent. */
    byte @Nullable [] found() {
        return found;
    }

    boolean changed() {
        return changed;
    }

    @Override
    public int initialBytes(long argument) {
        found = null;
        changed = next != null && (when == UpdateCondition.ALWAYS || when == UpdateCondition.ABSENT);
        return changed ? length() : -1;
    }

    private int length() {
        return next == null ? -1 : next.length;
    }

    @Override
    public void initial(MemorySegment value, long offset, int bytes, long argument) {
        store(value, offset);
    }

    private void store(MemorySegment value, long offset) {
        byte[] bytes = next;
        if (bytes != null) {
            MemorySegment.copy(bytes, 0, value, ValueLayout.JAVA_BYTE, offset, bytes.length);
        }
    }

    private void look(MemorySegment old, long offset, int bytes) {
        byte[] copy = new byte[bytes];
        MemorySegment.copy(old, ValueLayout.JAVA_BYTE, offset, copy, 0, bytes);
        found = copy;
        changed = switch (when) {
            case ALWAYS, PRESENT -> true;
            case ABSENT -> false;
            case EQUAL -> Arrays.equals(copy, expected);
        };
    }

    @Override
    public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
        look(value, offset, bytes);
        if (changed && length() == bytes) {
            store(value, offset);
            return true;
        }
        return !changed;
    }

    @Override
    public int copyBytes(MemorySegment old, long oldOffset, int oldBytes, long argument) {
        look(old, oldOffset, oldBytes);
        return changed ? length() : KEEP;
    }

    @Override
    public void copy(
            MemorySegment old,
            long oldOffset,
            int oldBytes,
            MemorySegment value,
            long offset,
            int bytes,
            long argument) {
        store(value, offset);
    }
}
