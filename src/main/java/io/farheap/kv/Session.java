package io.farheap.kv;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.VerbCounts;
import io.farheap.thread.OwnerThread;
import io.farheap.time.TimeLimit;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Requests to a map, from one thread at a time: the first that uses it, until that has {@linkplain #release released}
 * it or has ended. Any other, and a callback that polls, waits or closes, gets an {@link IllegalStateException}, and
 * nothing has changed. A request takes effect after earlier ones of the session on the same key; callbacks come in the
 * order of the requests. Requests allocate nothing but where an array says so.
 *
 * <p>Keys have 1 to 1,024 bytes, values up to {@link #MOST_VALUE_BYTES}. Where key and value have more than
 * {@link #MOST_OBJECT_BYTES} together, the value is in pieces. One request at a time stores such a value, one reads
 * one; the session keeps as much memory for each as the largest has needed.
 */
public final class Session extends BlockingSession implements AutoCloseable {

    public static final int MOST_VALUE_BYTES = Pieces.MOST_VALUE_BYTES;
    /**
     * Of a key, padded to 8 bytes, and a value that are in one block; less what the map's policy keeps with each
     * object.
     */
    public static final int MOST_OBJECT_BYTES = Operations.MOST_BLOCK_BYTES - BlockFormat.HEADER_BYTES;

    private static final long SLEEP_NANOS = 1_000_000;
    /** What a session waits at most for requests in flight when it is closed. */
    private static final long CLOSE_NANOS = TimeLimit.of(1_000_000_000L);
    /** As much again can pass since the map was made before an expiry has no room in a block. */
    private static final long MOST_LIFE_MILLIS = 1L << 47;

    private static final MemorySegment NUMBER = MemorySegment.ofArray(new byte[Long.BYTES]);

    private final DeepQueue queue;
    private final KeptBuffer memory;
    private final KeptBuffer probeMemory;
    private final KeptBuffer hintMemory;
    private final KeptBuffer indexMemory;
    private final Operations operations;
    private final Posts posts;
    private final Counts counts = new Counts();
    private final Keeper keeper;
    private final Tally tally;
    private final Mailbox mailbox;
    private final BlockAllocator allocator;
    private final Reclaimer reclaimer;
    private final ValueWriter writer;
    private final ValueReader reader;
    private final UnfencedBlocks unfenced = new UnfencedBlocks();
    private final Doubts doubts;
    private final Room room;
    private final AdaptiveRecords records;
    private final Pipeline pipeline;
    private final OwnerThread owner = new OwnerThread("session");
    /** A poll is under way, of which a callback may be a part. */
    private boolean polling;

    private boolean closed;

    /**
     * @param requests in flight at most, a power of two
     * @param number of the session, which no other of the map has
     */
    Session(
            RemoteMemory remote,
            SpaceMemory space,
            MapClock clock,
            CachePolicy policy,
            int requests,
            long number,
            Keeper keeper,
            Tally tally) {
        this.tally = tally;
        this.keeper = keeper;
        try (CloseStack stack = new CloseStack()) {
            int depth = requests * Posts.mostOfAStep(policy.extensionWords())
                    + Posts.HINTS
                    + ValueReader.WINDOW
                    + ValueWriter.WINDOW
                    + 1;
            queue = stack.add(new DeepQueue(remote, depth, space));
            memory = stack.add(new KeptBuffer(remote, Operations.memoryBytes(requests)));
            probeMemory = stack.add(new KeptBuffer(remote, Operations.MOST_BLOCK_BYTES));
            hintMemory = stack.add(new KeptBuffer(remote, (long) Posts.HINTS * Posts.HINT_BYTES));
            indexMemory = stack.add(new KeptBuffer(remote, Operations.MOST_BLOCK_BYTES));
            stack.keep();
        }
        operations = new Operations(requests, memory.buffer());
        posts = new Posts(queue, space, operations, memory.buffer(), hintMemory.buffer());
        AccessClock accessClock = new AccessClock(clock, space.shape().objects());
        records = new AdaptiveRecords(posts, space, accessClock, policy, counts, number);
        mailbox = keeper.mailbox(records.learnedWords());
        allocator = new BlockAllocator(mailbox, space, posts.reach());
        reclaimer = new Reclaimer(posts, space, allocator, counts, indexMemory.buffer());
        writer = new ValueWriter(remote, operations, posts, allocator, records.extensionWords() * Long.BYTES);
        reader = new ValueReader(remote, operations, posts);
        doubts = new Doubts(operations, posts, allocator, writer, unfenced);
        room = new Room(
                operations, posts, space, allocator, mailbox, reclaimer, records, records, accessClock, counts, number);
        pipeline = new Pipeline(
                queue,
                memory.buffer(),
                operations,
                posts,
                steps(space, clock, number),
                mailbox,
                allocator,
                reclaimer,
                doubts,
                room.waits(),
                reader,
                writer,
                records,
                clock,
                space.keyHash());
        keeper.serve(mailbox, this::held, this::oldestEra);
        tally.opened(counts, queue::posted);
    }

    /** What each kind of request does, step by step; all but the pipeline is there. */
    private KindSteps steps(SpaceMemory space, MapClock clock, long number) {
        Probe probe = new Probe(probeMemory.buffer());
        TakeOut takeOut = new TakeOut(operations, posts, reclaimer, counts);
        Ending ending = new RequestEnding(operations, doubts, writer, reader, counts);
        GetSteps gets = new GetSteps(operations, posts, ending, doubts, takeOut, reader, records, clock, counts);
        SetParts parts = new SetParts(
                operations,
                posts,
                ending,
                doubts,
                room,
                probe,
                allocator,
                reclaimer,
                takeOut,
                writer,
                records,
                clock,
                counts,
                number);
        ChangeSteps changes = new ChangeSteps(parts);
        TouchSteps touches = new TouchSteps(parts);
        DeleteSteps deletes = new DeleteSteps(operations, posts, ending, doubts, reclaimer, clock, counts);
        MoveSteps moves = new MoveSteps(operations, posts, ending, space, room, allocator, reclaimer);
        return new KindSteps(gets, changes, touches, deletes, moves);
    }

    /**
     * Begins a get.
     *
     * @param tag comes back with the outcome
     * @return false where too many requests are in flight: poll first
     * @throws IllegalArgumentException where the key is too long or empty
     */
    @Override
    public boolean get(MemorySegment key, long tag) {
        return begin(Operations.GET, key, 0, tag);
    }

    /** Begins a delete; otherwise as {@link #get}. */
    @Override
    public boolean delete(MemorySegment key, long tag) {
        return begin(Operations.DELETE, key, 0, tag);
    }

    /**
     * Begins to get all keys of a batch, as many at a time as the session has room for, and posts what they need in a
     * list for each server. One callback comes when all have ended: as {@link KvStatus#LOST} where one was lost; the
     * batch says what became of each.
     *
     * @return false where another batch is under way
     */
    @Override
    public boolean getAll(Batch keys, long tag) {
        checkOpen();
        return pipeline.run(keys, false, NEVER, tag);
    }

    /** Begins to set all keys of a batch, which are then there for a time; otherwise as {@link #getAll}. */
    @Override
    public boolean setAll(Batch keysAndValues, long lifeMillis, long tag) {
        checkLife(lifeMillis);
        for (int i = 0; i < keysAndValues.size(); i++) {
            checkValue(keysAndValues.valueBytes(i));
        }
        checkOpen();
        return pipeline.run(keysAndValues, true, lifeMillis, tag);
    }

    private boolean begin(int kind, MemorySegment key, long argument, long tag) {
        checkOpen();
        return pipeline.begin(kind, key, Keys.check(key.byteSize()), argument, tag);
    }

    /** Begins a set of an object that stays until it is evicted. */
    public boolean set(MemorySegment key, MemorySegment value, long tag) {
        return set(key, value, NEVER, tag);
    }

    /**
     * Begins a set; otherwise as {@link #get}. The value is copied before this returns.
     *
     * @param lifeMillis for how long the object may be found; 0 for ever
     * @return false where too many requests are in flight, or a value in pieces while another one is: poll first
     * @throws IllegalArgumentException where key or value are too long, or the time is negative
     */
    public boolean set(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return store(Operations.SET, key, value, lifeMillis, 0, tag);
    }

    /** Begins a set of a key that is not there, which ends as {@link KvStatus#EXISTS} where it is. */
    public boolean add(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return store(Operations.ADD, key, value, lifeMillis, 0, tag);
    }

    /** Begins a set of a key that is there, which ends as {@link KvStatus#ABSENT} where it is not. */
    public boolean replace(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        return store(Operations.REPLACE, key, value, lifeMillis, 0, tag);
    }

    /**
     * Begins a set of an object that has not changed since it was read: where it has, it ends as
     * {@link KvStatus#CHANGED}, and where it is gone, as {@link KvStatus#ABSENT}. A touch is no change.
     *
     * @param version as {@link #version} said when the object was read or stored
     */
    public boolean compareAndSet(MemorySegment key, MemorySegment value, long version, long lifeMillis, long tag) {
        return store(Operations.COMPARE_AND_SET, key, value, lifeMillis, version, tag);
    }

    /**
     * Begins to add to a value of 8 bytes, little-endian, which goes on with the time to live that it has. The callback
     * has the sum. It ends as {@link KvStatus#ABSENT} where there is none, and as {@link KvStatus#NOT_A_NUMBER} where
     * the value is of another length. An add of 0 before makes sure that there is one.
     *
     * @param delta beyond 2^63 the sum goes round
     */
    @Override
    public boolean increment(MemorySegment key, long delta, long tag) {
        return store(Operations.INCREMENT, key, NUMBER, NEVER, delta, tag);
    }

    /** Begins to give an object another time to live, counted from now; 0 for ever. */
    @Override
    public boolean touch(MemorySegment key, long lifeMillis, long tag) {
        checkOpen();
        checkLife(lifeMillis);
        return begin(Operations.TOUCH, key, pipeline.expiry(lifeMillis), tag);
    }

    /**
     * Begins to write an object's block anew, on a server that does not leave the map; or to evict the object. It ends
     * as {@link KvStatus#CHANGED} where the slot has changed, and an eviction as {@link KvStatus#EXISTS} where a higher
     * slot may have its key.
     *
     * @param kind {@link Operations#MOVE} or {@link Operations#COMPACT}, of an object without pieces, or
     *     {@link Operations#EVICT}, {@link Operations#EVICT_ALONE} or {@link Operations#MAKE_ROOM}
     * @param slot as {@link MoveSteps#slot} has it
     * @param word of the slot
     * @return false where too many requests are in flight
     */
    boolean move(int kind, long slot, long word, long tag) {
        checkOpen();
        return pipeline.move(kind, slot, word, tag);
    }

    /** The next that looks for room may ask the services, whatever they have said before. */
    void hopeAnew() {
        mailbox.hopeAnew();
    }

    @Override
    public boolean settled() {
        return records.extensionWords() == 0 || operations.inUse() > 0 || posts.oldestEra() == Long.MAX_VALUE;
    }

    @Override
    String trouble() {
        return queue.reconnects().trouble();
    }

    /** Whether nothing is under way or waits for a connection, the session's own work included. */
    boolean rests() {
        return operations.inUse() == 0 && reclaimer.isEmpty() && posts.oldestEra() == Long.MAX_VALUE;
    }

    /** Whether it has free blocks, or will have some when what it has posted has ended. */
    boolean holdsFree() {
        return allocator.holdsAny()
                || !reclaimer.isIdle()
                || mailbox.hasBlocks()
                || posts.oldestEra() != Long.MAX_VALUE;
    }

    /** Gives all free blocks back, as far as there is room for them on the way. */
    void giveAllBack() {
        if (mailbox.hasBlocks() && !room.waits().isAsking()) {
            allocator.takeGiven(SizeClasses.COUNT);
        }
        allocator.giveOthersBack(-1);
    }

    @Override
    boolean store(int kind, MemorySegment key, MemorySegment value, long lifeMillis, long argument, long tag) {
        checkOpen();
        int keyBytes = Keys.check(key.byteSize());
        int valueBytes = checkValue(value.byteSize());
        checkLife(lifeMillis);
        return pipeline.store(kind, key, keyBytes, value, valueBytes, lifeMillis, argument, tag);
    }

    /**
     * Goes on with requests, and hands over those that have ended. Does not wait.
     *
     * @return how many have been handed over
     */
    @Override
    public int poll(KvHandler to) {
        checkOpen();
        checkNotPolling();
        polling = true;
        try {
            return pipeline.poll(to);
        } finally {
            polling = false;
        }
    }

    /** Sleeps until something may have ended, at most for a time. */
    @Override
    public void await(long nanos) {
        checkOpen();
        checkNotPolling();
        posts.postHints();
        // Who answers from the servers' services raises no event here, and neither does the end of a back-off.
        boolean soon = room.waits().isAsking() || !queue.reconnects().up();
        queue.await(soon ? Math.min(nanos, SLEEP_NANOS) : nanos);
    }

    /** Requests that have been made and not been handed over. */
    @Override
    public int inFlight() {
        return operations.inUse();
    }

    /**
     * For the handler of {@link #poll}, of the request that it is told of: the version of the object that was found or
     * stored, which no other object of the map has had or will have; 0 where there is none, and of deletes and touches.
     */
    @Override
    public long version() {
        return pipeline.version();
    }

    private static int checkValue(long bytes) {
        if (bytes > MOST_VALUE_BYTES) {
            throw new IllegalArgumentException("a value of " + bytes + " bytes; it has at most " + MOST_VALUE_BYTES
                    + ": store it under several keys");
        }
        return (int) bytes;
    }

    private static void checkLife(long millis) {
        if (millis < 0 || millis > MOST_LIFE_MILLIS) {
            throw new IllegalArgumentException("an object that lives for " + millis + " ms; it has 1 to "
                    + MOST_LIFE_MILLIS + ", or 0 to live for ever");
        }
    }

    private void checkOpen() {
        owner.own();
        if (closed) {
            throw new IllegalStateException("the session is closed");
        }
    }

    private void checkNotPolling() {
        if (polling) {
            throw new IllegalStateException(
                    "a callback polls, waits or closes its session; make requests there, and return");
        }
    }

    /** Lets another thread use it from now on; the caller hands it over by whatever means threads have. */
    public void release() {
        checkOpen();
        checkNotPolling();
        owner.disown();
    }

    /** What the session has posted since it was opened, an eviction's and what nobody waits for too. */
    public VerbCounts posted() {
        return queue.posted();
    }

    Counts counts() {
        return counts;
    }

    Reconnects connections() {
        return queue.reconnects();
    }

    Operations operations() {
        return operations;
    }

    /** For values in pieces that are stored, and for those that are read. */
    List<GrowingMemory> grown() {
        return List.of(writer.memory, reader.memory);
    }

    BlockAllocator allocator() {
        return allocator;
    }

    /** Any thread: of requests, and of what nobody waits for. */
    private long oldestEra() {
        return Math.min(operations.oldestEra(), posts.oldestEra());
    }

    /** Any thread: what the session holds, see {@link HeldBlocks}. Requests are looked at first and last. */
    private void held(HeldBlocks into) {
        operations.held(into);
        writer.held(into);
        reclaimer.held(into);
        mailbox.held(into);
        allocator.held(into);
        unfenced.held(into);
        for (long i = mailbox.backFirst(); i < mailbox.backEnd(); i++) {
            into.add(mailbox.back(i));
        }
        writer.held(into);
        operations.held(into);
    }

    /**
     * Requests in flight may take effect or not, and are not called back. It waits for them a little, and gives the
     * session's blocks back. Idempotent.
     *
     * @throws IllegalStateException in a callback, or where another thread has used it last, not released it, and
     *     lives; it stays as it is
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        checkOpen();
        checkNotPolling();
        try {
            drain();
        } finally {
            closed = true;
            tally.closed(counts);
            Closing.all(
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

    /** Returns when all requests have ended; nobody else begins one meanwhile. */
    void awaitAll(KvHandler handler) {
        while (inFlight() > 0) {
            if (poll(handler) == 0) {
                await(SLEEP_NANOS);
            }
        }
    }

    private void drain() {
        posts.postHints();
        long deadline = System.nanoTime() + CLOSE_NANOS;
        while ((operations.inUse() > 0 || !reclaimer.isIdle())
                && !keeper.isClosed()
                && System.nanoTime() - deadline < 0) {
            if (poll((tag, status, found, at, bytes) -> {}) == 0) {
                await(SLEEP_NANOS);
            }
        }
    }
}
