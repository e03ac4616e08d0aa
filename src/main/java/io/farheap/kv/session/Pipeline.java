package io.farheap.kv.session;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Mailbox;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.AdaptiveRecords;
import io.farheap.kv.eviction.EvictionWaits;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.operation.BlockWrite;
import io.farheap.kv.operation.FailedRequestBlocks;
import io.farheap.kv.operation.MapSessionParts;
import io.farheap.kv.operation.RequestSteps;
import io.farheap.kv.operation.StepTable;
import io.farheap.kv.operation.ValueReader;
import io.farheap.kv.operation.ValueWriter;
import io.farheap.kv.space.DeepQueue;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.Reconnects;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.MappedFaults;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries out a session's requests, from issue to hand-over. Each has a place in the order of the requests. It waits
 * there while an earlier request is on its key, advances by the {@link RequestSteps} of its kind, and is handed over
 * when all before it have been. The requests of a batch are issued as there is room. The session's thread.
 */
final class Pipeline {

    /** Of this many polls with nothing posted, one looks nevertheless whether a completion has come. A power of two. */
    private static final int IDLE_POLLS = 64;

    /** How many failures of connections one request waits for. */
    private static final int MOST_FAILURES = 16;

    private static final MemorySegment ALL = NativeMemory.ALL;

    private final DeepQueue queue;
    private final RegisteredBuffer memory;
    private final RequestColumns operations;
    private final RequestPoster posts;
    private final StepTable steps;
    private final BlockWrite blockWrite;
    private final Mailbox mailbox;
    private final LongSupplier era;
    private final BlockAllocator allocator;
    private final Reclaimer reclaimer;
    private final FailedRequestBlocks doubts;
    private final Reconnects reconnects;
    private final EvictionWaits roomWaits;
    private final ValueReader reader;
    private final ValueWriter writer;
    private final AdaptiveRecords records;
    private final MapClock clock;
    private final KeyHash keyHash;
    /** Requests that wait for an earlier one on their key. */
    private int held;

    private int idlePolls;

    private long version;
    /** The batch that is under way. */
    private @Nullable KeyBatch batch;
    /** By place: whether the request belongs to the batch. */
    private final boolean[] ofBatch;

    /** By place: whether the request waits for a connection, which counts as one of its pending operations. */
    private final boolean[] stalled;

    private int stalls;

    private final CompletionHandler completions = this::completed;

    Pipeline(
            DeepQueue queue,
            RegisteredBuffer memory,
            MapSessionParts parts,
            StepTable steps,
            Mailbox mailbox,
            KeyHash keyHash) {
        this.queue = queue;
        this.memory = memory;
        this.operations = parts.operations();
        this.posts = parts.posts();
        this.steps = steps;
        this.blockWrite = steps.changes().blockWrite;
        this.mailbox = mailbox;
        this.era = mailbox::era;
        this.allocator = parts.allocator();
        this.reclaimer = parts.reclaimer();
        this.doubts = parts.doubts();
        this.reconnects = queue.reconnects();
        this.roomWaits = parts.room().waits();
        this.reader = parts.reader();
        this.writer = parts.writer();
        this.records = parts.records();
        this.clock = parts.clock();
        this.keyHash = keyHash;
        this.ofBatch = new boolean[operations.count];
        this.stalled = new boolean[operations.count];
    }

    /** As {@link MapRequests#version}. */
    long version() {
        return version;
    }

    /**
     * Begins a batch.
     *
     * @return false if another batch is under way
     */
    boolean run(KeyBatch of, boolean set, long lifeMillis, long tag) {
        if (batch != null) {
            return false;
        }
        of.begin(set, tag, lifeMillis);
        batch = of;
        issueBatch(of);
        return true;
    }

    private void issueBatch(KeyBatch of) {
        posts.beginList();
        try {
            // Once for all of these: each of them may have taken effect when the batch began.
            boolean cutOff = reconnects.isCutOff();
            while (!of.issuedAll()
                    && !operations.full()
                    && !(of.stores() && mustWaitToWrite(of.keyBytes(), of.storedBytes()))) {
                issueNext(of, operations.next(), cutOff);
            }
        } finally {
            posts.endList();
        }
    }

    private void issueNext(KeyBatch of, int place, boolean cutOff) {
        ofBatch[place] = true;
        if (!of.stores()) {
            prepareKey(place, of.keyMemory(), of.keyAt(), of.keyBytes());
            of.issued++;
            add(place, RequestColumns.GET, 0, true, cutOff);
            return;
        }
        boolean prepared = prepareStore(
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
        add(place, RequestColumns.SET, 0, prepared, cutOff);
    }

    /**
     * Begins a request that stores nothing.
     *
     * @return false if too many requests are in flight
     */
    boolean begin(int kind, MemorySegment key, int keyBytes, long argument, long tag) {
        if (full()) {
            return false;
        }
        int place = operations.next();
        ofBatch[place] = false;
        prepareKey(place, key, 0, keyBytes);
        operations.argument[place] = argument;
        add(place, kind, tag, true);
        return true;
    }

    private void prepareKey(int place, MemorySegment key, long from, int keyBytes) {
        long at = operations.keyMemory(place);
        PaddedKeys.store(key, from, keyBytes, at);
        hash(place, at, keyBytes);
    }

    /**
     * Begins a request that stores.
     *
     * @return false if too many requests are in flight, or the value is in pieces and another such value is being
     *     stored
     */
    boolean store(
            int kind,
            MemorySegment key,
            int keyBytes,
            MemorySegment value,
            int valueBytes,
            long lifeMillis,
            long argument,
            long tag) {
        if (full() || mustWaitToWrite(keyBytes, valueBytes)) {
            return false;
        }
        int place = operations.next();
        ofBatch[place] = false;
        boolean prepared = prepareStore(place, key, 0, keyBytes, value, 0, valueBytes, lifeMillis);
        operations.argument[place] = argument;
        add(place, kind, tag, prepared);
        return true;
    }

    /** As {@link MapRequests#move}. */
    boolean move(int kind, long slot, long word, long tag) {
        if (full()) {
            return false;
        }
        int place = operations.next();
        ofBatch[place] = false;
        // No two moves are of one object, so none waits for another.
        operations.hash[place] = word;
        operations.argument[place] = slot;
        operations.word[place] = word;
        add(place, kind, tag, true);
        return true;
    }

    /** @return false if this process has no memory for the value */
    private boolean prepareStore(
            int place,
            MemorySegment key,
            long keyFrom,
            int keyBytes,
            MemorySegment value,
            long valueFrom,
            int valueBytes,
            long lifeMillis) {
        long at = operations.blockCopy(place) + blockWrite.keyAt();
        PaddedKeys.store(key, keyFrom, keyBytes, at);
        hash(place, at, keyBytes);
        // Before the writer begins a value in pieces: nothing may throw between that and the request's start.
        long version = blockWrite.nextVersion();
        long expiryMillis = expiry(lifeMillis);
        if (!inPieces(keyBytes, valueBytes)) {
            MemorySegment.copy(value, valueFrom, ALL, at + BlockFormat.padded(keyBytes), valueBytes);
            MappedFaults.raise(value);
        } else if (!writer.begin(place, value, valueFrom, valueBytes)) {
            return false;
        }
        blockWrite.prepare(place, keyBytes, valueBytes, expiryMillis, version);
        return true;
    }

    private boolean inPieces(int keyBytes, int valueBytes) {
        return ValuePieces.needed(blockWrite.extensionBytes, keyBytes, valueBytes);
    }

    /** Whether the value is in pieces while another such value is being stored. */
    private boolean mustWaitToWrite(int keyBytes, int valueBytes) {
        return inPieces(keyBytes, valueBytes) && !writer.isFree();
    }

    /** A request behind a batch waits until all of the batch is under way. */
    private boolean full() {
        return operations.full() || batch != null && !batch.issuedAll();
    }

    /** The expiry of an object with this time to live, from now on. */
    long expiry(long lifeMillis) {
        return lifeMillis == MapRequests.NEVER ? MapRequests.NEVER : Math.max(1, clock.millis() + lifeMillis);
    }

    private void hash(int place, long key, int keyBytes) {
        operations.key[place] = key;
        operations.keyBytes[place] = keyBytes;
        operations.hash[place] = keyHash.of(ALL, key, keyBytes);
    }

    private void add(int place, int kind, long tag, boolean prepared) {
        add(place, kind, tag, prepared, reconnects.isCutOff());
    }

    /**
     * Adds a request, and starts it unless it must wait.
     *
     * @param prepared false if this process has no memory for the request, which ends at once then
     * @param cutOff as {@link Reconnects#isCutOff}, asked after the request was made
     */
    private void add(int place, int kind, long tag, boolean prepared, boolean cutOff) {
        operations.kind[place] = kind;
        operations.tag[place] = tag;
        operations.pending[place] = 0;
        operations.lost[place] = false;
        boolean wait = operations.mayHave(operations.hash[place]) && mustWait(place, operations.inUse());
        operations.add(operations.hash[place]);
        if (!prepared) {
            blockWrite.noMemory(place);
        } else if (cutOff) {
            blockWrite.cutOff(place);
        } else if (wait) {
            operations.step[place] = RequestColumns.HELD;
            held++;
        } else {
            start(place);
        }
    }

    /**
     * Whether one of the {@code older} oldest requests has not ended, is on the same key, and one of the two changes
     * it.
     */
    private boolean mustWait(int place, int older) {
        int other = operations.first();
        for (int i = 0; i < older; i++) {
            if (operations.hash[other] == operations.hash[place]
                    && operations.step[other] != RequestColumns.DONE
                    && (operations.kind[other] != RequestColumns.GET || operations.kind[place] != RequestColumns.GET)) {
                return true;
            }
            other = operations.after(other);
        }
        return false;
    }

    private void start(int place) {
        operations.stamp(place, era);
        steps.of(operations.kind[place]).begin(place);
        settle(place);
    }

    /** Runs steps while there is nothing to wait for. */
    private void settle(int place) {
        while (operations.step[place] != RequestColumns.DONE && operations.pending[place] == 0) {
            if (operations.lost[place]) {
                operations.lost[place] = false;
                reconnects.failed(place);
                stallOrAbandon(place, steps.of(operations.kind[place]));
            } else {
                if (reconnects.unproven()) {
                    reconnects.worked(place);
                }
                steps.of(operations.kind[place]).advance(place);
            }
        }
    }

    /** Lets the request wait until failed connections have been made again, if that may be soon; else ends it. */
    private void stallOrAbandon(int place, RequestSteps kind) {
        if (kind.goesOn()
                && !operations.hasTrouble(place, RequestColumns.REFUSED)
                && operations.failures[place]++ < MOST_FAILURES
                && reconnects.mayContinue()) {
            operations.pending[place]++;
            stalled[place] = true;
            stalls++;
        } else {
            kind.abandon(place);
        }
    }

    /** Called while not all connections stand, as far as is known. Not inside the queue's poll. */
    private void mend() {
        reconnects.mend();
        doubts.fenced();
        reclaimer.goOn();
        if (stalls == 0 || reconnects.hopeful()) {
            return;
        }
        for (int place = 0; place < stalled.length; place++) {
            if (stalled[place]) {
                stalled[place] = false;
                stalls--;
                operations.pending[place]--;
                steps.of(operations.kind[place]).again(place);
                settle(place);
            }
        }
    }

    private void completed(long tag, int outcome) {
        if (outcome != Outcome.DONE && !Reconnects.isOf(tag)) {
            failed(tag, outcome);
        }
        if (tag < RequestPoster.HEAD_TAG) {
            operations.ended((int) (tag & RequestPoster.PLACE_MASK), outcome != Outcome.DONE);
        } else if (tag < RequestPoster.INDEX_TAG) {
            posts.readReplacedEnded((int) (tag - RequestPoster.HEAD_TAG), outcome == Outcome.DONE);
        } else if (tag == RequestPoster.INDEX_TAG) {
            reclaimer.completed(outcome);
        } else if (Reconnects.isOf(tag)) {
            reconnects.ended(tag, outcome);
        } else {
            posts.hintEnded(tag, outcome);
        }
    }

    private void failed(long tag, int outcome) {
        reconnects.broke();
        if (tag >= RequestPoster.HEAD_TAG) {
            return;
        }
        int place = (int) (tag & RequestPoster.PLACE_MASK);
        if ((tag & RequestPoster.MARK_TAG) != 0) {
            posts.markLost(place);
        }
        if (outcome == Outcome.REFUSED) {
            operations.troubles(place, RequestColumns.REFUSED);
        } else if (outcome == Outcome.UNKNOWN) {
            operations.troubles(place, (tag & RequestPoster.WRITE_TAG) != 0 ? RequestColumns.WRITE_UNKNOWN : 0);
            operations.troubles(place, (tag & RequestPoster.SWAP_TAG) != 0 ? RequestColumns.SWAP_UNKNOWN : 0);
        }
    }

    /** As {@link MapRequests#poll}. */
    int poll(KvHandler to) {
        allocator.letGoOfEmptying();
        if (stalls > 0 || reconnects.hasWork()) {
            mend();
        }
        pollQueue();
        reader.tidy();
        writer.tidy();
        if (roomWaits.wakes()) {
            for (int place = roomWaits.nextWoken(); place != Bucket.NONE; place = roomWaits.nextWoken()) {
                operations.pending[place]--;
                settle(place);
            }
        }
        records.exchange(mailbox);
        int handed = 0;
        while (operations.inUse() > 0 && operations.step[operations.first()] == RequestColumns.DONE) {
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
        KeyBatch more = batch;
        if (more != null && !more.issuedAll()) {
            issueBatch(more);
        }
        return handed;
    }

    private void pollQueue() {
        boolean idle = queue.inFlight() == 0 && reconnects.up();
        if (idle && operations.inUse() == 0) {
            posts.postHints();
        }
        // Requests most likely ended in the order in which they began; the queue seldom has anything else to report.
        if (idle && !operations.hasReady() && ++idlePolls % IDLE_POLLS != 0) {
            return;
        }
        queue.enter();
        try {
            if (operations.inUse() == 1) {
                goOn();
            } else {
                // Operations of requests that advance together are posted together.
                posts.beginList();
                try {
                    goOn();
                } finally {
                    posts.endList();
                }
            }
        } finally {
            queue.exit();
        }
        if (idle) {
            records.idle();
        }
    }

    /** Called inside the queue's gate, which each posting would otherwise enter by itself. */
    private void goOn() {
        queue.poll(completions);
        // After the poll: the steps were measured to take longer inside its callbacks.
        for (int place = operations.nextReady(); place != Bucket.NONE; place = operations.nextReady()) {
            settle(place);
        }
    }

    private void hand(KvHandler to) {
        int place = operations.first();
        int status = operations.status[place];
        long at = 0;
        int bytes = 0;
        int kind = operations.kind[place];
        boolean done = status == KvStatus.DONE && kind != RequestColumns.DELETE && kind < RequestColumns.TOUCH;
        long block = operations.blockCopy(place);
        version = done ? BlockFormat.version(ALL, block) : 0;
        if (done && (kind == RequestColumns.GET || kind == RequestColumns.INCREMENT)) {
            int keyBytes = BlockFormat.keyBytes(ALL, block);
            bytes = BlockFormat.valueBytes(ALL, block);
            at = RequestColumns.blockAt(place) + BlockFormat.valueAt(BlockFormat.extensionBytes(ALL, block), keyBytes);
        }
        MemorySegment value = memory.segment();
        if (reader.isOf(place)) {
            value = reader.value();
            at = 0;
            bytes = reader.bytes();
        }
        KeyBatch of = ofBatch[place] ? batch : null;
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
            if (operations.step[place] == RequestColumns.HELD && !mustWait(place, older)) {
                held--;
                start(place);
            }
            place = operations.after(place);
        }
    }
}
