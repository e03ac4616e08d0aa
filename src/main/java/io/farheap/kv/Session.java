package io.farheap.kv;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.CompletionHandler;
import io.farheap.remote.Outcome;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.VerbCounts;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a map, from one thread at a time. A request takes effect after earlier ones of the session on the same
 * key; callbacks come in the order of the requests. Requests allocate nothing but where an array says so.
 *
 * <p>Keys have 1 to 1,024 bytes, values up to {@link #MOST_VALUE_BYTES}. Where key and value have more than
 * {@link #MOST_OBJECT_BYTES} together, the value is in pieces. One request at a time stores such a value, one reads
 * one; the session keeps as much memory for each as the largest has needed.
 */
public final class Session implements AutoCloseable, Waiting.Polled {

    public static final int MOST_VALUE_BYTES = Pieces.MOST_VALUE_BYTES;
    /**
     * Of a key, padded to 8 bytes, and a value that are in one block; less what the map's policy keeps with each
     * object.
     */
    public static final int MOST_OBJECT_BYTES = Operations.MOST_BLOCK_BYTES - BlockFormat.HEADER_BYTES;

    private static final long NEVER = 0;
    private static final long SLEEP_NANOS = 1_000_000;
    /** What a session waits at most for requests in flight when it is closed. */
    private static final long CLOSE_NANOS = 1_000_000_000L * Integer.getInteger("farheap.slowness", 1);
    /** Of so many polls with nothing posted one looks nevertheless whether something has come. A power of two. */
    private static final int IDLE_POLLS = 64;
    /** As much again can pass since the map was made before an expiry has no room in a block. */
    private static final long MOST_LIFE_MILLIS = 1L << 47;

    private static final MemorySegment NUMBER = MemorySegment.ofArray(new byte[Long.BYTES]);
    private static final MemorySegment ALL = NativeMemory.ALL;

    private final DeepQueue queue;
    private final RegisteredBuffer memory;
    private final RegisteredBuffer probeMemory;
    private final RegisteredBuffer hintMemory;
    private final RegisteredBuffer indexMemory;
    private final Operations operations;
    private final Posts posts;
    private final GetSteps gets;
    private final ChangeSteps changes;
    private final TouchSteps touches;
    private final DeleteSteps deletes;
    private final MoveSteps moves;
    private final Counts counts = new Counts();
    private final Keeper keeper;
    private final Tally tally;
    private final Mailbox mailbox;
    private final BlockAllocator allocator;
    private final Reclaimer reclaimer;
    private final ValueWriter writer;
    private final ValueReader reader;
    private final Room room;
    private final AdaptiveRecords records;
    private final MapClock clock;
    /** Requests that wait for an earlier one on their key. */
    private int held;

    private boolean closed;
    private int idlePolls;

    private long version;
    /** What is under way of many keys. */
    private @Nullable Batch batch;
    /** By place: whether the request is one of it. */
    private final boolean[] ofBatch;

    private final Waiting waiting = new Waiting(this);
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
            Keeper keeper,
            Tally tally) {
        this.clock = clock;
        this.tally = tally;
        this.keeper = keeper;
        try (CloseStack stack = new CloseStack()) {
            int depth = requests * Posts.mostOfAStep(policy.extensionWords())
                    + Posts.HINTS
                    + ValueReader.WINDOW
                    + ValueWriter.WINDOW
                    + 1;
            queue = stack.add(new DeepQueue(remote, depth));
            memory = stack.add(remote.register(Operations.memoryBytes(requests)));
            probeMemory = stack.add(remote.register(Operations.MOST_BLOCK_BYTES));
            hintMemory = stack.add(remote.register((long) Posts.HINTS * Posts.HINT_BYTES));
            indexMemory = stack.add(remote.register(Operations.MOST_BLOCK_BYTES));
            stack.keep();
        }
        operations = new Operations(requests, memory);
        ofBatch = new boolean[requests];
        posts = new Posts(queue, space, operations, memory, hintMemory);
        AccessClock accessClock = new AccessClock(clock, space.shape().objects());
        records = new AdaptiveRecords(posts, space, accessClock, policy, counts, number);
        mailbox = keeper.mailbox(records.learnedWords());
        allocator = new BlockAllocator(mailbox, space);
        reclaimer = new Reclaimer(posts, space, allocator, counts, indexMemory);
        writer = new ValueWriter(remote, operations, posts, allocator);
        reader = new ValueReader(remote, operations, posts);
        room = new Room(
                operations, posts, space, allocator, mailbox, reclaimer, records, records, accessClock, counts, number);
        Probe probe = new Probe(probeMemory);
        TakeOut takeOut = new TakeOut(operations, posts, reclaimer);
        gets = new GetSteps(operations, posts, this::end, takeOut, reader, records, clock, counts);
        changes = new ChangeSteps(
                operations,
                posts,
                this::end,
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
        touches = new TouchSteps(
                operations,
                posts,
                this::end,
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
        deletes = new DeleteSteps(operations, posts, this::end, reclaimer, clock, counts);
        moves = new MoveSteps(operations, posts, this::end, space, room, allocator, reclaimer);
        keeper.serve(mailbox, this::held, this::oldestEra);
        tally.opened(counts, queue::posted);
    }

    /**
     * Begins a get.
     *
     * @param tag comes back with the outcome
     * @return false where too many requests are in flight: poll first
     * @throws IllegalArgumentException where the key is too long or empty
     */
    public boolean get(MemorySegment key, long tag) {
        return begin(Operations.GET, key, 0, tag);
    }

    /** Begins a delete; otherwise as {@link #get}. */
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
    public boolean getAll(Batch keys, long tag) {
        return run(keys, false, NEVER, tag);
    }

    /** Begins to set all keys of a batch, which are then there for a time; otherwise as {@link #getAll}. */
    public boolean setAll(Batch keysAndValues, long lifeMillis, long tag) {
        checkLife(lifeMillis);
        for (int i = 0; i < keysAndValues.size(); i++) {
            checkValue(keysAndValues.valueBytes(i));
        }
        return run(keysAndValues, true, lifeMillis, tag);
    }

    private boolean run(Batch of, boolean set, long lifeMillis, long tag) {
        checkOpen();
        if (batch != null) {
            return false;
        }
        of.begin(set, tag, lifeMillis);
        batch = of;
        issueBatch(of);
        return true;
    }

    private void issueBatch(Batch of) {
        posts.beginList();
        while (!of.issuedAll()
                && !operations.full()
                && !(of.stores() && mustWaitToWrite(of.keyBytes(), of.storedBytes()))) {
            int place = operations.next();
            ofBatch[place] = true;
            if (of.stores()) {
                prepareStore(
                        place,
                        of.keyMemory(),
                        of.keyAt(),
                        of.keyBytes(),
                        of.storedMemory(),
                        of.storedAt(),
                        of.storedBytes(),
                        of.lifeMillis);
                operations.argument[place] = 0;
                of.issued++;
                add(place, Operations.SET, 0);
            } else {
                prepareKey(place, of.keyMemory(), of.keyAt(), of.keyBytes());
                of.issued++;
                add(place, Operations.GET, 0);
            }
        }
        posts.endList();
    }

    private boolean begin(int kind, MemorySegment key, long argument, long tag) {
        checkOpen();
        int keyBytes = Keys.check(key.byteSize());
        if (full()) {
            return false;
        }
        int place = operations.next();
        ofBatch[place] = false;
        prepareKey(place, key, 0, keyBytes);
        operations.argument[place] = argument;
        add(place, kind, tag);
        return true;
    }

    private void prepareKey(int place, MemorySegment key, long from, int keyBytes) {
        long at = operations.keyMemory(place);
        Keys.store(key, from, keyBytes, at);
        hash(place, at, keyBytes);
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
    public boolean increment(MemorySegment key, long delta, long tag) {
        return store(Operations.INCREMENT, key, NUMBER, NEVER, delta, tag);
    }

    /** Begins to give an object another time to live, counted from now; 0 for ever. */
    public boolean touch(MemorySegment key, long lifeMillis, long tag) {
        checkOpen();
        checkLife(lifeMillis);
        return begin(Operations.TOUCH, key, expiry(lifeMillis), tag);
    }

    /**
     * Begins to write an object's block anew, on a server that does not leave the map; or to evict the object. It ends
     * as {@link KvStatus#CHANGED} where the slot has changed, and an eviction as {@link KvStatus#EXISTS} where a higher
     * slot has its fingerprint.
     *
     * @param kind {@link Operations#MOVE} or {@link Operations#COMPACT}, of an object without pieces, or
     *     {@link Operations#EVICT}
     * @param slot as {@link MoveSteps#slot} has it
     * @param word of the slot
     * @return false where too many requests are in flight
     */
    boolean move(int kind, long slot, long word, long tag) {
        checkOpen();
        if (full()) {
            return false;
        }
        int place = operations.next();
        ofBatch[place] = false;
        // No two of these are of one object, so none waits for another.
        operations.hash[place] = word;
        operations.argument[place] = slot;
        operations.word[place] = word;
        add(place, kind, tag);
        return true;
    }

    /** The next that looks for room may ask the services, whatever they have said before. */
    void hopeAnew() {
        mailbox.hopeAnew();
    }

    @Override
    public boolean settled() {
        return records.extensionWords() == 0 || operations.inUse() > 0 || posts.oldestEra() == Long.MAX_VALUE;
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
        if (mailbox.hasBlocks() && !room.waits()) {
            allocator.takeGiven();
        }
        allocator.giveOthersBack(-1);
    }

    /** As {@link #compareAndSet(byte[], byte[], long, long)}, with the time to live that the object has. */
    boolean restore(byte[] key, byte[] value, long ofVersion) {
        return store(Operations.RESTORE, key, value, ofVersion, NEVER);
    }

    boolean store(int kind, MemorySegment key, MemorySegment value, long lifeMillis, long argument, long tag) {
        checkOpen();
        int keyBytes = Keys.check(key.byteSize());
        int valueBytes = checkValue(value.byteSize());
        checkLife(lifeMillis);
        if (full() || mustWaitToWrite(keyBytes, valueBytes)) {
            return false;
        }
        int place = operations.next();
        ofBatch[place] = false;
        prepareStore(place, key, 0, keyBytes, value, 0, valueBytes, lifeMillis);
        operations.argument[place] = argument;
        add(place, kind, tag);
        return true;
    }

    private void prepareStore(
            int place,
            MemorySegment key,
            long keyFrom,
            int keyBytes,
            MemorySegment value,
            long valueFrom,
            int valueBytes,
            long lifeMillis) {
        long at = operations.blockCopy(place) + changes.keyAt();
        Keys.store(key, keyFrom, keyBytes, at);
        if (inPieces(keyBytes, valueBytes)) {
            writer.begin(place, value, valueFrom, valueBytes);
        } else {
            MemorySegment.copy(value, valueFrom, ALL, at + BlockFormat.padded(keyBytes), valueBytes);
        }
        hash(place, at, keyBytes);
        changes.prepare(place, keyBytes, valueBytes, expiry(lifeMillis));
    }

    private boolean inPieces(int keyBytes, int valueBytes) {
        return Pieces.needed(changes.extensionBytes, keyBytes, valueBytes);
    }

    /** Whether the value is in pieces, and another one is being stored. */
    private boolean mustWaitToWrite(int keyBytes, int valueBytes) {
        return inPieces(keyBytes, valueBytes) && !writer.isFree();
    }

    /** What comes behind a batch waits until all of the batch is under way. */
    private boolean full() {
        return operations.full() || batch != null && !batch.issuedAll();
    }

    private long expiry(long lifeMillis) {
        return lifeMillis == NEVER ? NEVER : Math.max(1, clock.millis() + lifeMillis);
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
        boolean wait = operations.mayHave(operations.hash[place]) && mustWait(place, operations.inUse());
        operations.add(operations.hash[place]);
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
            case Operations.DELETE -> deletes;
            case Operations.TOUCH -> touches;
            case Operations.MOVE, Operations.EVICT, Operations.COMPACT -> moves;
            default -> changes;
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
        if (writer.isOf(place)) {
            if (status == KvStatus.LOST) {
                writer.lost();
            } else {
                writer.stored();
            }
        }
        if (reader.isOf(place) && status != KvStatus.DONE) {
            reader.release();
        }
        operations.holdsNothing(place);
        operations.status[place] = status;
        operations.step[place] = Operations.DONE;
        counts.ended(operations.kind[place], status);
    }

    private void completed(long tag, int outcome) {
        if (tag >= Posts.HINT_TAG) {
            posts.hintEnded(tag);
            return;
        }
        if (tag == Posts.INDEX_TAG) {
            reclaimer.completed(outcome);
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
    @Override
    public int poll(KvHandler to) {
        checkOpen();
        allocator.letGoOfEmptying();
        pollQueue();
        reader.tidy();
        writer.tidy();
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
        int next = reader.nextWoken();
        if (next != Bucket.NONE) {
            operations.pending[next]--;
            settle(next);
        }
        Batch more = batch;
        if (more != null && !more.issuedAll()) {
            issueBatch(more);
        }
        return handed;
    }

    private void pollQueue() {
        if (queue.inFlight() == 0) {
            if (operations.inUse() == 0) {
                posts.postHints();
            }
            // Requests have ended as they began, most likely. What else the queue has to say comes seldom.
            if (++idlePolls % IDLE_POLLS == 0) {
                queue.poll(completions);
                records.idle();
            }
        } else if (operations.inUse() == 1) {
            queue.poll(completions);
        } else {
            // What goes on together is posted together.
            posts.beginList();
            try {
                queue.poll(completions);
            } finally {
                posts.endList();
            }
        }
    }

    private void hand(KvHandler to) {
        int place = operations.first();
        int status = operations.status[place];
        long at = 0;
        int bytes = 0;
        int kind = operations.kind[place];
        boolean done = status == KvStatus.DONE && kind != Operations.DELETE && kind < Operations.TOUCH;
        long block = operations.blockCopy(place);
        version = done ? BlockFormat.version(ALL, block) : 0;
        if (done && (kind == Operations.GET || kind == Operations.INCREMENT)) {
            int keyBytes = BlockFormat.keyBytes(ALL, block);
            bytes = BlockFormat.valueBytes(ALL, block);
            at = Operations.blockAt(place) + BlockFormat.valueAt(BlockFormat.extensionBytes(ALL, block), keyBytes);
        }
        MemorySegment value = memory.segment();
        if (reader.isOf(place)) {
            value = reader.value();
            at = 0;
            bytes = reader.bytes();
        }
        Batch of = ofBatch[place] ? batch : null;
        try {
            if (of == null) {
                to.completed(operations.tag[place], status, value, at, bytes);
            } else if (of.take(status, version, value, at, bytes)) {
                batch = null;
                to.completed(of.tag, of.worst, memory.segment(), 0, 0);
            }
        } finally {
            if (reader.isOf(place)) {
                reader.release();
            }
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
    @Override
    public void await(long nanos) {
        posts.postHints();
        // Who answers from the servers' services raises no event here.
        queue.await(room.waits() ? Math.min(nanos, SLEEP_NANOS) : nanos);
    }

    /** Requests that have been made and not been handed over. */
    public int inFlight() {
        return operations.inUse();
    }

    /**
     * For the handler of {@link #poll}, of the request that it is told of: the version of the object that was found or
     * stored, which no other object of the map has had or will have; 0 where there is none, and of deletes and touches.
     */
    @Override
    public long version() {
        return version;
    }

    /**
     * The value of a key, or null where the map does not have it. This and the other methods with byte arrays wait, as
     * long as the session has nothing else in flight.
     *
     * @throws MapException where a server is lost or there is no room
     * @throws IllegalStateException where something is in flight
     */
    public byte @Nullable [] get(byte[] key) {
        checkIdle();
        get(MemorySegment.ofArray(key), 0);
        return waiting.value();
    }

    /** As {@link #get(byte[])}, with the object's version. */
    public @Nullable Versioned getVersioned(byte[] key) {
        checkIdle();
        get(MemorySegment.ofArray(key), 0);
        return waiting.versioned();
    }

    /** Stores an object, and waits. */
    public void set(byte[] key, byte[] value) {
        set(key, value, NEVER);
    }

    /** Stores an object for a time, and waits. */
    public void set(byte[] key, byte[] value, long lifeMillis) {
        store(Operations.SET, key, value, 0, lifeMillis);
    }

    /** Stores an object whose key is not there, and waits; says whether it was stored. */
    public boolean add(byte[] key, byte[] value, long lifeMillis) {
        return store(Operations.ADD, key, value, 0, lifeMillis);
    }

    /** Stores an object whose key is there, and waits; says whether it was stored. */
    public boolean replace(byte[] key, byte[] value, long lifeMillis) {
        return store(Operations.REPLACE, key, value, 0, lifeMillis);
    }

    /** Stores an object in place of one of a version, and waits; says whether it was stored. */
    public boolean compareAndSet(byte[] key, byte[] value, long version, long lifeMillis) {
        return store(Operations.COMPARE_AND_SET, key, value, version, lifeMillis);
    }

    /**
     * Adds to a number, and waits.
     *
     * @return the sum; nothing where there is no number
     * @throws MapException also where the value does not have 8 bytes
     */
    public OptionalLong increment(byte[] key, long delta) {
        checkIdle();
        increment(MemorySegment.ofArray(key), delta, 0);
        return waiting.number();
    }

    /** The values of keys in their order, null where the map has none; waits. */
    public List<byte @Nullable []> getAll(List<byte[]> keys) {
        checkIdle();
        if (keys.isEmpty()) {
            return List.of();
        }
        Batch found = Batch.of(keys);
        getAll(found, 0);
        waiting.run();
        return found.found();
    }

    /** Stores a value for each key, for a time, and waits. Where that fails, some may be stored. */
    public void setAll(List<byte[]> keys, List<byte[]> values, long lifeMillis) {
        checkIdle();
        Batch stored = Batch.of(keys, values);
        if (!keys.isEmpty()) {
            setAll(stored, lifeMillis, 0);
            waiting.run();
        }
    }

    /** Gives an object another time to live, and waits; says whether it was there. */
    public boolean touch(byte[] key, long lifeMillis) {
        checkIdle();
        touch(MemorySegment.ofArray(key), lifeMillis, 0);
        return waiting.done();
    }

    /** Takes a key out, and waits; says whether it was there. */
    public boolean delete(byte[] key) {
        checkIdle();
        delete(MemorySegment.ofArray(key), 0);
        return waiting.done();
    }

    private boolean store(int kind, byte[] key, byte[] value, long argument, long lifeMillis) {
        checkIdle();
        store(kind, MemorySegment.ofArray(key), MemorySegment.ofArray(value), lifeMillis, argument, 0);
        return waiting.done();
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
        writer.held(into);
        reclaimer.held(into);
        mailbox.held(into);
        allocator.held(into);
        for (long i = mailbox.backFirst(); i < mailbox.backEnd(); i++) {
            into.add(mailbox.back(i));
        }
        writer.held(into);
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
                            mailbox, allocator, operations.inUse() == 0 && reclaimer.isIdle() && allocator.knowsAll()));
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
