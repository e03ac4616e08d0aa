package io.farheap.tier.handle;

import java.util.ArrayList;
import java.util.List;

/** The pending appends of all handles of a device, in an array, since an iterator would be garbage. Any thread. */
public final class PendingAppendsList {

    private volatile PendingAppends[] each = {};

    public synchronized void add(PendingAppends ofHandle) {
        List<PendingAppends> more = new ArrayList<>(List.of(each));
        more.add(ofHandle);
        each = more.toArray(PendingAppends[]::new);
    }

    public synchronized void remove(PendingAppends ofHandle) {
        List<PendingAppends> fewer = new ArrayList<>(List.of(each));
        fewer.remove(ofHandle);
        each = fewer.toArray(PendingAppends[]::new);
    }

    /** As {@link PendingAppends#lowest()}. */
    public long lowest() {
        long lowest = Long.MAX_VALUE;
        for (PendingAppends pending : each) {
            lowest = Math.min(lowest, pending.lowest());
        }
        return lowest;
    }

    /** As {@link PendingAppends#lowest(long)}. */
    public long lowest(long from) {
        long lowest = Long.MAX_VALUE;
        for (PendingAppends pending : each) {
            lowest = Math.min(lowest, pending.lowest(from));
        }
        return lowest;
    }

    /** As {@link PendingAppends#overlaps}. */
    public boolean overlap(long from, long to, long below) {
        for (PendingAppends pending : each) {
            if (pending.overlaps(from, to, below)) {
                return true;
            }
        }
        return false;
    }

    /** Whether an append of another handle than {@code own}'s overlaps a range. */
    public boolean overlapBeside(PendingAppends own, long from, long to) {
        for (PendingAppends pending : each) {
            if (pending != own && pending.overlaps(from, to, Long.MAX_VALUE)) {
                return true;
            }
        }
        return false;
    }
}
