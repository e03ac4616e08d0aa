package io.farheap.kv;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.CompletionHandler;
import io.farheap.remote.Outcome;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.VerbCounts;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a map, from one thread at a time. A request takes effect after earlier ones of the session on the same
 * key; callbacks come in the order of the requests. Requests allocate nothing but where an array says so.
 *
 * <p>Keys have 1 to 1,024 bytes; key and value together at most {@link #MOST_OBJECT_BYTES}.
 */
public final class Session implements AutoCloseable {

    /** Of a key, padded to 8 bytes, and a value together; less what the map's policy keeps with each object. */
    public static final int MOST_OBJECT_BYTES = Operations.MOST_BLOCK_BYTES - BlockFormat.HEADER_BYTES;

    private static final long NEVER = 0;
    private static final int SPINS = 2000;
    private static final long SLEEP_NANOS = 1_000_000;
    /** What a session waits at most for requests in flight when it is closed. */
    private static final long CLOSE_NANOS = 1_000_000_000;

    private static final MemorySegment ALL = NativeMemory.ALL;

    private final RemoteQueue queue;
    private final RegisteredBuffer memory;
    private final RegisteredBuffer probeMemory;
    private final RegisteredBuffer hintMemory;
    private final Operations operations;
    private final Posts posts;
    private final GetSteps gets;
    private final SetSteps sets;
    private final DeleteSteps deletes;
    private final Counts counts = new Counts();
    private final Keeper keeper;
    private final Mailbox mailbox;
    private final BlockAllocator allocator;
    private final Room room;
    private final AdaptiveRecords records;
    private final MapClock clock;
    /** Requests that wait for an earlier one on their key. */
    private int held;

    private boolean closed;

    // What a blocking request waits for.
    private int blockingStatus;
    private final Value blockingValue = new Value();
    private final KvHandler blocking = this::takeBlocking;
    private final CompletionHandler completions = this::completed;

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
            Keeper keeper) {
        this.clock = clock;
        this.keeper = keeper;
        try (CloseStack stack = new CloseStack()) {
            int depth = requests * Posts.mostOfAStep(policy.extensionWords()) + Posts.HINTS;
            queue = stack.add(remote.openQueue(QueueOptions.DEFAULT.withDepth(depth)));
            memory = stack.add(remote.register(Operations.memoryBytes(requests)));
            probeMemory = stack.add(remote.register(Operations.MOST_BLOCK_BYTES));
            hintMemory = stack.add(remote.register((long) Posts.HINTS * Posts.HINT_BYTES));
            stack.keep();
        }
        operations = new Operations(requests, memory);
        posts = new Posts(queue, space, operations, memory, hintMemory);
        records = new AdaptiveRecords(posts, space, clock, policy, number);
        mailbox = keeper.mailbox(records.learnedWords());
        allocator = new BlockAllocator(mailbox, space.regions() * space.shape().regionBytes() / BlockFormat.UNIT_BYTES);
        room = new Room(operations, posts, space, allocator, mailbox, records, records, counts, number);
        Probe probe = new Probe(probeMemory);
        gets = new GetSteps(operations, posts, this::end, records, clock, counts);
        sets = new SetSteps(operations, posts, this::end, room, probe, allocator, records, counts, number);
        deletes = new DeleteSteps(operations, posts, this::end, allocator, counts);
        keeper.serve(mailbox, this::held, this::oldestEra);
    }

    /**
     * Begins a get.
     *
     * @param tag comes back with the outcome
     * @return false where too many requests are in flight: poll first
     * @throws IllegalArgumentException where the key is too long or empty
     */
    public boolean get(MemorySegment key, long tag) {
        return begin(Operations.GET, key, tag);
    }

    /** Begins a delete; otherwise as {@link #get}. */
    public boolean delete(MemorySegment key, long tag) {
        return begin(Operations.DELETE, key, tag);
    }

    private boolean begin(int kind, MemorySegment key, long tag) {
        checkOpen();
        int keyBytes = checkKey(key.byteSize());
        if (operations.full()) {
            return false;
        }
        int place = operations.next();
        long at = operations.keyMemory(place);
        Keys.store(key, 0, keyBytes, at);
        hash(place, at, keyBytes);
        add(place, kind, tag);
        return true;
    }

    /** Begins a set of an object that stays until it is evicted. */
    public boolean set(MemorySegment key, MemorySegment value, long tag) {
        return set(key, value, NEVER, tag);
    }

    /**
     * Begins a set; otherwise as {@link #get}.
     *
     * @param lifeMillis for how long the object may be found; 0 for ever
     * @throws IllegalArgumentException where key or value are too long, or the time is negative
     */
    public boolean set(MemorySegment key, MemorySegment value, long lifeMillis, long tag) {
        checkOpen();
        int keyBytes = checkKey(key.byteSize());
        int valueBytes = checkValue(keyBytes, value.byteSize());
        if (lifeMillis < 0) {
            throw new IllegalArgumentException(
                    "an object that lives for " + lifeMillis + " ms; say more, or 0 for one that lives for ever");
        }
        if (operations.full()) {
            return false;
        }
        int place = operations.next();
        long at = operations.blockCopy(place) + sets.keyAt();
        Keys.store(key, 0, keyBytes, at);
        MemorySegment.copy(value, 0, ALL, at + BlockFormat.padded(keyBytes), valueBytes);
        long expiry = lifeMillis == NEVER ? NEVER : Math.max(1, clock.millis() + lifeMillis);
        hash(place, at, keyBytes);
        sets.prepare(place, keyBytes, valueBytes, expiry);
        add(place, Operations.SET, tag);
        return true;
    }

    private void hash(int place, long key, int keyBytes) {
        operations.key[place] = key;
        operations.keyBytes[place] = keyBytes;
        operations.hash[place] = KeyHash.of(ALL, key, keyBytes, 0);
    }

    private void add(int place, int kind, long tag) {
        operations.kind[place] = kind;
        operations.tag[place] = tag;
        operations.pending[place] = 0;
        operations.lost[place] = false;
        boolean wait = mustWait(place, operations.inUse());
        operations.add();
        if (wait) {
            operations.step[place] = Operations.HELD;
            held++;
        } else {
            start(place);
        }
    }

    /** Whether one of the oldest requests, which has not ended, is on the same key and one of the two changes it. */
    private boolean mustWait(int place, int older) {
        int other = operations.first();
        for (int i = 0; i < older; i++) {
            if (operations.hash[other] == operations.hash[place]
                    && operations.step[other] != Operations.DONE
                    && (operations.kind[other] != Operations.GET || operations.kind[place] != Operations.GET)) {
                return true;
            }
            other = operations.after(other);
        }
        return false;
    }

    private void start(int place) {
        operations.knows(place, mailbox.era());
        steps(place).begin(place);
        settle(place);
    }

    private Steps steps(int place) {
        return switch (operations.kind[place]) {
            case Operations.GET -> gets;
            case Operations.SET -> sets;
            default -> deletes;
        };
    }

    /** Goes on while nothing is to be waited for. */
    private void settle(int place) {
        while (operations.step[place] != Operations.DONE && operations.pending[place] == 0) {
            if (operations.lost[place]) {
                operations.lost[place] = false;
                steps(place).abandon(place);
            } else {
                steps(place).advance(place);
            }
        }
    }

    private void end(int place, int status) {
        if (status == KvStatus.LOST) {
            allocator.keepUnknown(operations.writing(place));
            allocator.keepUnknown(operations.taking(place));
        }
        operations.holdsNothing(place);
        operations.status[place] = status;
        operations.step[place] = Operations.DONE;
    }

    private void completed(long tag, int outcome) {
        if (tag >= Posts.HINT_TAG) {
            posts.hintEnded(tag);
            return;
        }
        int place = (int) tag;
        operations.lost[place] |= outcome != Outcome.DONE;
        operations.pending[place]--;
        settle(place);
    }

    /**
     * Goes on with requests, and hands over those that have ended. Does not wait.
     *
     * @return how many have been handed over
     */
    public int poll(KvHandler to) {
        checkOpen();
        queue.poll(completions);
        if (room.wakes()) {
            for (int place = room.nextWoken(); place != Bucket.NONE; place = room.nextWoken()) {
                operations.pending[place]--;
                settle(place);
            }
        }
        records.exchange(mailbox);
        int handed = 0;
        while (operations.inUse() > 0 && operations.step[operations.first()] == Operations.DONE) {
            if (held > 0) {
                startHeld();
            }
            hand(to);
            handed++;
        }
        if (held > 0) {
            startHeld();
        }
        return handed;
    }

    private void hand(KvHandler to) {
        int place = operations.first();
        int status = operations.status[place];
        long at = 0;
        int bytes = 0;
        if (operations.kind[place] == Operations.GET && status == KvStatus.DONE) {
            long block = operations.blockCopy(place);
            int keyBytes = BlockFormat.keyBytes(ALL, block);
            bytes = BlockFormat.valueBytes(ALL, block);
            at = Operations.blockAt(place) + BlockFormat.valueAt(BlockFormat.extensionBytes(ALL, block), keyBytes);
        }
        try {
            to.completed(operations.tag[place], status, memory.segment(), at, bytes);
        } finally {
            operations.removeFirst();
        }
    }

    private void startHeld() {
        int place = operations.first();
        for (int older = 0; older < operations.inUse(); older++) {
            if (operations.step[place] == Operations.HELD && !mustWait(place, older)) {
                held--;
                start(place);
            }
            place = operations.after(place);
        }
    }

    /** Sleeps until something may have ended, at most for a time. */
    public void await(long nanos) {
        // Who answers from the servers' services raises no event here.
        queue.await(room.waits() ? Math.min(nanos, SLEEP_NANOS) : nanos);
    }

    /** Requests that have been made and not been handed over. */
    public int inFlight() {
        return operations.inUse();
    }

    /**
     * The value of a key, or null where the map does not have it. It waits, as long as the session has nothing else in
     * flight.
     */
    public byte @Nullable [] get(byte[] key) {
        checkIdle();
        get(MemorySegment.ofArray(key), 0);
        return runBlocking() == KvStatus.ABSENT ? null : blockingValue.bytes;
    }

    /** Stores an object, and waits. */
    public void set(byte[] key, byte[] value) {
        set(key, value, NEVER);
    }

    /** Stores an object for a time, and waits. */
    public void set(byte[] key, byte[] value, long lifeMillis) {
        checkIdle();
        set(MemorySegment.ofArray(key), MemorySegment.ofArray(value), lifeMillis, 0);
        runBlocking();
    }

    /** Takes a key out, and waits; says whether it was there. */
    public boolean delete(byte[] key) {
        checkIdle();
        delete(MemorySegment.ofArray(key), 0);
        return runBlocking() == KvStatus.DONE;
    }

    private int runBlocking() {
        for (int spins = 0; poll(blocking) == 0; spins++) {
            if (spins > SPINS) {
                await(SLEEP_NANOS);
            } else {
                Thread.onSpinWait();
            }
        }
        if (blockingStatus == KvStatus.LOST || blockingStatus == KvStatus.NO_ROOM) {
            throw MapException.of(blockingStatus);
        }
        return blockingStatus;
    }

    private void takeBlocking(long tag, int status, MemorySegment found, long at, int bytes) {
        blockingStatus = status;
        blockingValue.take(status, found, at, bytes);
    }

    private static int checkKey(long bytes) {
        if (bytes < 1 || bytes > BlockFormat.MOST_KEY_BYTES) {
            throw new IllegalArgumentException(
                    "a key of " + bytes + " bytes; keys have 1 to " + BlockFormat.MOST_KEY_BYTES);
        }
        return (int) bytes;
    }

    private int checkValue(int keyBytes, long bytes) {
        int most = Operations.MOST_BLOCK_BYTES - sets.keyAt();
        if (bytes > most - BlockFormat.padded(keyBytes)) {
            throw new IllegalArgumentException("a value of " + bytes + " bytes with a key of " + keyBytes
                    + "; together they have at most " + most);
        }
        return (int) bytes;
    }

    private void checkIdle() {
        if (operations.inUse() > 0) {
            throw new IllegalStateException(
                    operations.inUse()
                            + " requests are in flight; poll until they have ended before one that waits, or use another session");
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the session is closed");
        }
    }

    /** What the session has posted since it was opened, an eviction's and what nobody waits for too. */
    public VerbCounts posted() {
        return queue.posted();
    }

    Counts counts() {
        return counts;
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
        mailbox.held(into);
        allocator.held(into);
        for (long i = mailbox.backFirst(); i < mailbox.backEnd(); i++) {
            into.add(mailbox.back(i));
        }
        operations.held(into);
    }

    /**
     * Requests in flight may take effect or not, and are not called back. It waits for them a little, and gives the
     * session's blocks back. Idempotent.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        try {
            drain();
        } finally {
            closed = true;
            Closing.all(
                    queue,
                    memory,
                    probeMemory,
                    hintMemory,
                    () -> keeper.closed(mailbox, allocator, operations.inUse() == 0 && allocator.knowsAll()));
        }
    }

    private void drain() {
        long deadline = System.nanoTime() + CLOSE_NANOS;
        while (operations.inUse() > 0 && !keeper.isClosed() && System.nanoTime() - deadline < 0) {
            if (poll((tag, status, found, at, bytes) -> {}) == 0) {
                await(SLEEP_NANOS);
            }
        }
    }

    private static final class Value {

        byte @Nullable [] bytes;

        void take(int status, MemorySegment memory, long at, int length) {
            bytes = null;
            if (status == KvStatus.DONE) {
                bytes = new byte[length];
                MemorySegment.copy(memory, at, MemorySegment.ofArray(bytes), 0, length);
            }
        }
    }
}
