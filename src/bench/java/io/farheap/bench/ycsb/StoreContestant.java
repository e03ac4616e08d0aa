package io.farheap.bench.ycsb;

import io.farheap.lifetime.CloseStack;
import io.farheap.store.FarStore;
import io.farheap.store.FarStoreBuilder;
import io.farheap.store.StoreSession;

/** A {@link FarStore} over some kind of storage. */
final class StoreContestant implements Contestant {

    static final int PENDING = 256;
    private static final int ONE = 1;

    private static final int LEAST_PAGE_BITS = 12;
    /** The least number of pages that a log works with. */
    private static final int LEAST_PAGES = 6;

    /** Local memory has at least this many pages if they can be that small. */
    private static final int PAGES = 64;
    /** The least share, also if 0 is wanted: a log needs some memory while it is written. */
    private static final double LEAST_SHARE = 0.01;

    private final DataSet data;
    private final LogStorage storage;
    private final FarStore store;
    /** The most operations of a thread that wait for the device. */
    private final int pending;
    /** Whether a thread's group begins when the one before has ended. */
    private final boolean whole;

    private long cacheBytes;
    private final CloseStack resources = new CloseStack();

    /**
     * @param storage which this owns
     * @param localShare of the log that is in local memory, 0 to 1; 0 is as little as a log can work with
     */
    StoreContestant(DataSet data, LogStorage storage, double localShare) {
        this(data, storage, localShare, 0);
    }

    /** @param cachedPart the part of that memory for copies of records that were read */
    StoreContestant(DataSet data, LogStorage storage, double localShare, double cachedPart) {
        this(data, storage, localShare, cachedPart, PENDING, false);
    }

    private StoreContestant(
            DataSet data, LogStorage storage, double localShare, double cachedPart, int pending, boolean whole) {
        this.data = data;
        this.pending = pending;
        this.whole = whole;
        this.storage = resources.add(storage);
        try {
            store = resources.add(store(Math.max(LEAST_SHARE, localShare), cachedPart));
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    /** Returns a store whose threads carry out one operation after another, as a map without groups does. */
    static StoreContestant single(DataSet data, LogStorage storage, double localShare) {
        return new StoreContestant(data, storage, localShare, 0, ONE, false);
    }

    /** Returns a store whose threads wait for each group, as those that hand one to a map's or RocksDB's call do. */
    static StoreContestant group(DataSet data, LogStorage storage, double localShare) {
        return new StoreContestant(data, storage, localShare, 0, OperationGroup.SIZE, true);
    }

    private FarStore store(double localShare, double cachedPart) {
        int bits = pageBits(data, localShare);
        long pages = (long) Math.ceil(localShare * data.logBytes() / (1L << bits));
        // If all is local, the page of the tail, and pages that wait for it, are in addition to the share.
        long spare = localShare < 1 ? 0 : LEAST_PAGES + data.logBytes() / (1L << bits) / 8;
        long cached = cachedPart == 0 ? 0 : Math.max(LEAST_PAGES, Math.round(cachedPart * pages));
        cacheBytes = cached << bits;
        FarStoreBuilder builder = FarStore.builder()
                .device(storage.device())
                .name("ycsb")
                .pageBytes(1 << bits)
                .memory(Math.max(LEAST_PAGES, pages + spare - cached) << bits)
                .readCache(cacheBytes)
                .expectedKeys(data.records())
                .pending(pending);
        if (data.valueBytes() != Long.BYTES) {
            builder.records(Long.BYTES, data.valueBytes());
        }
        return builder.open();
    }

    /** Returns a page size that is small enough for the share, and large enough for a record. */
    static int pageBits(DataSet data, double localShare) {
        long bytes = (long) (localShare * data.logBytes() / PAGES);
        int least = Math.max(LEAST_PAGE_BITS, Long.SIZE - Long.numberOfLeadingZeros(4L * data.recordBytes() - 1));
        int bits = bytes < 2 ? 0 : Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes);
        return Math.clamp(bits, least, Math.max(least, Long.numberOfTrailingZeros(data.segmentBytes())));
    }

    @Override
    public void load() {
        try (StoreClient client = open(new ClientCounts())) {
            for (long key = 0; key < data.records(); key++) {
                client.store(key);
            }
        }
        storage.filled(store.logBytes());
    }

    @Override
    public StoreClient open(ClientCounts tally) {
        return new StoreClient(openSession(), data, pending, pending == ONE, whole, tally);
    }

    StoreSession openSession() {
        return store.openSession();
    }

    LogStorage storage() {
        return storage;
    }

    /** Returns the bytes of the log that are in local memory, and on the storage too. */
    long writtenLocalBytes() {
        return Math.max(0, storage.device().end() - notLocalBytes());
    }

    /** Returns the bytes of the log that are on the storage alone. */
    long notLocalBytes() {
        return store.logBytes() - store.logBytesInMemory();
    }

    @Override
    public boolean onDevice() {
        return storage.onDevice();
    }

    @Override
    public Facts facts() {
        return new Facts(
                (double) (store.logBytesInMemory() + cacheBytes) / store.logBytes(),
                storage.farShare(notLocalBytes()),
                store.indexBytes(),
                storage.engine(),
                storage.device().name(),
                true);
    }

    /** Reads that are in memory overlap in their group alone, and those of the device beyond it. */
    @Override
    public Means means() {
        long bytes = store.logBytesInMemory() + cacheBytes + store.indexBytes();
        if (pending == ONE) {
            return Means.single(bytes);
        }
        return notLocalBytes() == 0 ? Means.grouped(bytes) : new Means(bytes, pending, OperationGroup.SIZE);
    }

    @Override
    public void close() {
        resources.close();
    }
}
