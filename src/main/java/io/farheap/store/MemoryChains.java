package io.farheap.store;

/** Chains of records, as far as memory has them. One thread's, inside an epoch. */
final class MemoryChains implements Chains {

    private final Frames frames;
    private final Marks marks;
    private final Key key;

    MemoryChains(HybridLog log) {
        this.frames = log.frames;
        this.marks = log.marks;
        this.key = new Key(log.layout);
    }

    @Override
    public long first(long address, long bit, boolean set) {
        long head = marks.head();
        long at = address;
        while (at >= head) {
            long record = frames.memoryOf(at);
            key.useOf(record);
            if ((key.hash & bit) != 0 == set) {
                return at;
            }
            at = Record.previous(Words.getAcquire(record));
        }
        return at >= marks.begin() ? at : 0;
    }
}
