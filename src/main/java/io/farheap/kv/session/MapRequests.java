package io.farheap.kv.session;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.HeldBlocks;
import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.blocks.UnfencedBlocks;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.eviction.AccessClock;
import io.farheap.kv.eviction.AdaptiveRecords;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.eviction.SampledEviction;
import io.farheap.kv.format.ObjectLife;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.keeper.MapKeeper;
import io.farheap.kv.operation.FailedRequestBlocks;
import io.farheap.kv.operation.MapSessionParts;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.operation.ProbeBuffer;
import io.farheap.kv.operation.RequestCompleter;
import io.farheap.kv.operation.StaleObjectRemoval;
import io.farheap.kv.operation.StepTable;
import io.farheap.kv.operation.ValueReader;
import io.farheap.kv.operation.ValueWriter;
import io.farheap.kv.operation.VersionNumbers;
import io.farheap.kv.space.DeepQueue;
import io.farheap.kv.space.GrowingMemory;
import io.farheap.kv.space.KeptBuffer;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.Reconnects;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.time.TimeLimit;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * The inside of a session: it makes and closes the session's parts, and takes its requests, alone and in batches. A
 * {@link Pipeline} carries them out. It is also used to move objects. It belongs to one thread at a time: the first
 * that uses it, until that thread has released it or has ended.
 */
public final class MapRequests implements EngineSession {

    /** The time to live of an object that stays until it is evicted. */
    public static final long NEVER = 0;

    private static final long SLEEP_NANOS = 1_000_000;
    /** How long the close of a session waits for requests in flight, and then for them to end as lost. */
    private static final long CLOSE_NANOS = TimeLimit.of(1_000_000_000L);

    private static final long CUT_NANOS = TimeLimit.of(3_000_000_000L);
    private static final MemorySegment NUMBER = MemorySegment.ofArray(new byte[Long.BYTES]);

    private final DeepQueue queue;
    private final KeptBuffer memory;
    private final KeptBuffer probeMemory;
    private final KeptBuffer hintMemory;
    private final KeptBuffer indexMemory;
    private final RequestColumns operations;
    private final RequestPoster posts;
    private final MapSessionCounts counts = new MapSessionCounts();
    private final MapKeeper keeper;
    private final MapCountTotals tally;
    private final Mailbox mailbox;
    private final BlockAllocator allocator;
    private final Reclaimer reclaimer;
    private final ValueWriter writer;
    private final ValueReader reader;
    private final UnfencedBlocks unfenced = new UnfencedBlocks();
    private final SampledEviction room;
    private final AdaptiveRecords records;
    private final Pipeline pipeline;
    private final SessionOwner owner = new SessionOwner();
    /** How often it was polled. Another thread looks now and then whether it is polled at all. */
    private int polls;

    /**
     * @param requests in flight at most, a power of two
     * @param numbers that no other session of the map has, unchecked; may be called on any thread, even after this has
     *     returned
     * @param pointers of the process, to the map that it has open
     * @throws MapException if the map has had all numbers
     */
    public MapRequests(
            RemoteMemory remote,
            SpaceMemory space,
            MapClock clock,
            EvictionSettings policy,
            int requests,
            LongSupplier numbers,
            MapKeeper keeper,
            PointerCache pointers,
            MapCountTotals tally) {
        this.tally = tally;
        this.keeper = keeper;
        long number = VersionNumbers.checked(numbers.getAsLong());
        try (CloseStack stack = new CloseStack()) {
            int depth = requests * RequestPoster.mostOfAStep(policy.extensionWords())
                    + RequestPoster.HINTS
                    + ValueReader.WINDOW
                    + ValueWriter.WINDOW
                    + 1;
            queue = stack.add(new DeepQueue(remote, depth, space));
            memory = stack.add(new KeptBuffer(remote, RequestColumns.memoryBytes(requests)));
            probeMemory = stack.add(new KeptBuffer(remote, RequestColumns.MOST_BLOCK_BYTES));
            hintMemory = stack.add(new KeptBuffer(remote, (long) RequestPoster.HINTS * RequestPoster.HINT_BYTES));
            indexMemory = stack.add(new KeptBuffer(remote, RequestColumns.MOST_BLOCK_BYTES));
            stack.keep();
        }
        operations = new RequestColumns(requests, memory.buffer());
        posts = new RequestPoster(queue, space, operations, memory.buffer(), hintMemory.buffer(), pointers);
        AccessClock accessClock = new AccessClock(clock, space.shape().objects());
        records = new AdaptiveRecords(posts, space, accessClock, policy, counts, pointers, number);
        mailbox = keeper.mailbox(records.learnedWords());
        allocator = new BlockAllocator(mailbox, space, posts.reach());
        reclaimer = new Reclaimer(posts, space, allocator, counts, indexMemory.buffer());
        int extensionBytes = records.extensionWords() * Long.BYTES;
        writer = new ValueWriter(remote, operations, posts, allocator, extensionBytes, space.checksum());
        reader = new ValueReader(remote, operations, posts, space.checksum());
        FailedRequestBlocks doubts = new FailedRequestBlocks(operations, posts, allocator, writer, unfenced);
        room = new SampledEviction(
                operations, posts, space, allocator, mailbox, reclaimer, records, records, accessClock, counts, number);
        MapSessionParts parts = new MapSessionParts(
                operations,
                posts,
                new RequestCompleter(operations, doubts, writer, reader, counts, pointers),
                doubts,
                room,
                new ProbeBuffer(probeMemory.buffer(), space.checksum()),
                allocator,
                reclaimer,
                new StaleObjectRemoval(operations, posts, reclaimer, counts),
                writer,
                reader,
                records,
                clock,
                counts,
                pointers,
                new VersionNumbers(number, numbers),
                space.checksum());
        pipeline = new Pipeline(queue, memory.buffer(), parts, new StepTable(parts, space), mailbox, space.keyHash());
        keeper.serve(mailbox, this::held, this::oldestEra, () -> polls, this::cut);
        tally.opened(counts, queue::posted);
    }

    /**
     * Begins a get.
     *
     * @return false if too many requests are in flight
     */
    @Override
    public boolean get(MemorySegment key, long tag) {
        return begin(RequestColumns.GET, key, 0, tag);
    }

    @Override
    public boolean delete(MemorySegment key, long tag) {
        return begin(RequestColumns.DELETE, key, 0, tag);
    }

    /**
     * Begins a batch of gets.
     *
     * @return false if another batch is under way
     */
    @Override
    public boolean getAll(KeyBatch keys, long tag) {
        owner.checkOpen();
        return pipeline.run(keys, false, NEVER, tag);
    }

    @Override
    public boolean setAll(KeyBatch keysAndValues, long lifeMillis, long tag) {
        ObjectLife.check(lifeMillis);
        for (int i = 0; i < keysAndValues.size(); i++) {
            checkValue(keysAndValues.valueBytes(i));
        }
        owner.checkOpen();
        return pipeline.run(keysAndValues, true, lifeMillis, tag);
    }

    private boolean begin(int kind, MemorySegment key, long argument, long tag) {
        owner.checkOpen();
        return pipeline.begin(kind, key, PaddedKeys.check(key.byteSize()), argument, tag);
    }

    @Override
    public boolean increment(MemorySegment key, long delta, long tag) {
        return store(RequestColumns.INCREMENT, key, NUMBER, NEVER, delta, tag);
    }

    @Override
    public boolean touch(MemorySegment key, long lifeMillis, long tag) {
        owner.checkOpen();
        ObjectLife.check(lifeMillis);
        return begin(RequestColumns.TOUCH, key, pipeline.expiry(lifeMillis), tag);
    }

    /**
     * Begins to write an object's block again, on a server that does not leave the map; or to evict the object. It ends
     * as {@link KvStatus#CHANGED} if the slot has changed.
     *
     * @param kind {@link RequestColumns#MOVE} or {@link RequestColumns#COMPACT}, of an object without pieces, or
     *     {@link RequestColumns#EVICT} or {@link RequestColumns#MAKE_ROOM}
     * @param slot as {@link MoveSteps#slot} has it
     * @param word of the slot
     * @return false if too many requests are in flight
     */
    public boolean move(int kind, long slot, long word, long tag) {
        owner.checkOpen();
        return pipeline.move(kind, slot, word, tag);
    }

    /** The next request that looks for room may ask the services, whatever they answered before. */
    public void hopeAnew() {
        mailbox.hopeAnew();
    }

    /**
     * Whether no hint that writes into a block is in flight, and no operation of a failed connection may still take
     * effect; either keeps segments from changing their class. Also true while requests are in flight, and always in a
     * map without such hints.
     */
    @Override
    public boolean settled() {
        return records.extensionWords() == 0 || operations.inUse() > 0 || posts.oldestEra() == Long.MAX_VALUE;
    }

    /** As {@link Reconnects#isOver}: requests here end as lost. */
    @Override
    public boolean isOver() {
        return queue.reconnects().isOver();
    }

    /** As {@link Reconnects#isReplaced}: others can be begun under the new leases once these have ended. */
    @Override
    public boolean isReplaced() {
        return queue.reconnects().isReplaced();
    }

    /**
     * As {@link DeepQueue#cut}. The session's blocks stay its own until it is closed; requests in flight end as lost
     * when it is polled.
     */
    public CompletableFuture<Void> cut() {
        return queue.cut();
    }

    /** Whether nothing is in flight and no callback runs, so that this can be closed. */
    @Override
    public boolean mayClose() {
        owner.checkOpen();
        return operations.inUse() == 0 && !owner.isPolling();
    }

    /** As {@link Reconnects#trouble}. */
    @Override
    public String trouble() {
        return queue.reconnects().trouble();
    }

    /** Whether nothing is under way or waits for a connection, including the session's own work. */
    public boolean rests() {
        return operations.inUse() == 0 && reclaimer.isEmpty() && posts.oldestEra() == Long.MAX_VALUE;
    }

    /** Whether it has free blocks, or will have some when its outstanding operations have ended. */
    public boolean holdsFree() {
        return allocator.holdsAny()
                || !reclaimer.isIdle()
                || mailbox.hasBlocks()
                || posts.oldestEra() != Long.MAX_VALUE;
    }

    /** Gives all free blocks back, as far as the mailbox has room for them. */
    public void giveAllBack() {
        if (mailbox.hasBlocks() && !room.waits().isAsking()) {
            allocator.takeGiven(SizeClasses.COUNT);
        }
        allocator.giveOthersBack(-1);
    }

    @Override
    public boolean store(int kind, MemorySegment key, MemorySegment value, long lifeMillis, long argument, long tag) {
        owner.checkOpen();
        int keyBytes = PaddedKeys.check(key.byteSize());
        int valueBytes = checkValue(value.byteSize());
        ObjectLife.check(lifeMillis);
        return pipeline.store(kind, key, keyBytes, value, valueBytes, lifeMillis, argument, tag);
    }

    /** @return how many have been handed over */
    @Override
    public int poll(KvHandler to) {
        owner.beginPoll();
        polls++;
        try {
            return pipeline.poll(to);
        } finally {
            owner.endPoll();
        }
    }

    @Override
    public void await(long nanos) {
        owner.checkIdle();
        posts.postHints();
        // An answer from the servers' services raises no event here, and neither does the end of a back-off.
        boolean soon = room.waits().isAsking() || !queue.reconnects().up();
        queue.await(soon ? Math.min(nanos, SLEEP_NANOS) : nanos);
    }

    @Override
    public int inFlight() {
        return operations.inUse();
    }

    @Override
    public long version() {
        return pipeline.version();
    }

    private static int checkValue(long bytes) {
        if (bytes > ValuePieces.MOST_VALUE_BYTES) {
            throw new IllegalArgumentException("a value of " + bytes + " bytes; it has at most "
                    + ValuePieces.MOST_VALUE_BYTES + ": store it under several keys");
        }
        return (int) bytes;
    }

    @Override
    public void release() {
        owner.release();
    }

    @Override
    public boolean isConnected() {
        return queue.reconnects().up();
    }

    @Override
    public VerbCounts posted() {
        return queue.posted();
    }

    public MapSessionCounts counts() {
        return counts;
    }

    public Reconnects connections() {
        return queue.reconnects();
    }

    public RequestColumns operations() {
        return operations;
    }

    /** The memory for values in pieces: for the one that is stored, and for the one that is read. */
    public List<GrowingMemory> grown() {
        return List.of(writer.memory, reader.memory);
    }

    public BlockAllocator allocator() {
        return allocator;
    }

    /** The oldest era of requests and of hints. Any thread. */
    private long oldestEra() {
        return Math.min(operations.oldestEra(), posts.oldestEra());
    }

    /**
     * Reports the blocks that the session holds, see {@link HeldBlocks}. Requests are looked at first and last. Any
     * thread.
     */
    private void held(HeldBlocks into) {
        operations.held(into::add);
        writer.held(into);
        reclaimer.held(into);
        mailbox.held(into);
        allocator.held(into);
        unfenced.held(into);
        for (long i = mailbox.backFirst(); i < mailbox.backEnd(); i++) {
            into.add(mailbox.back(i));
        }
        writer.held(into);
        operations.held(into::add);
    }

    /**
     * Closes the session. Requests in flight may take effect or not: it waits a little for them, and gives the
     * session's blocks back. Idempotent.
     *
     * @throws IllegalStateException in a callback, or if another living thread has used it last and not released it; it
     *     stays open
     */
    @Override
    public void close() {
        if (owner.isClosed()) {
            return;
        }
        owner.checkIdle();
        try {
            drain();
        } finally {
            owner.close();
            tally.closed(counts);
            Closeables.all(
                    queue,
                    memory,
                    probeMemory,
                    hintMemory,
                    indexMemory,
                    writer,
                    reader,
                    () -> keeper.closed(
                            mailbox,
                            allocator,
                            operations.inUse() == 0
                                    && reclaimer.isEmpty()
                                    && allocator.knowsAll()
                                    && unfenced.isEmpty()));
        }
    }

    /** Polls until all requests have ended; no other thread begins one meanwhile. */
    public void awaitAll(KvHandler handler) {
        while (inFlight() > 0) {
            if (poll(handler) == 0) {
                await(SLEEP_NANOS);
            }
        }
    }

    private void drain() {
        posts.postHints();
        drainUntil(System.nanoTime() + CLOSE_NANOS);
        if (operations.inUse() > 0 && !keeper.isClosed()) {
            // Otherwise the requests would keep memory from being used in another way until the process ends.
            CompletableFuture<Void> _ = queue.cut();
            drainUntil(System.nanoTime() + CUT_NANOS);
        }
    }

    private void drainUntil(long deadline) {
        // If all connections have ended, a poll settles what becomes of the blocks.
        while ((operations.inUse() > 0
                        || !reclaimer.isIdle()
                        || isOver() && !queue.reconnects().up())
                && !keeper.isClosed()
                && System.nanoTime() - deadline < 0) {
            if (poll((tag, status, found, at, bytes) -> {}) == 0) {
                await(SLEEP_NANOS);
            }
        }
    }
}
