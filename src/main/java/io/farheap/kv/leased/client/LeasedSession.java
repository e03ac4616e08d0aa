package io.farheap.kv.leased.client;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.ObjectLife;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.leased.format.LeaseClock;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ReportRing;
import io.farheap.kv.session.EngineSession;
import io.farheap.kv.session.KeyBatch;
import io.farheap.kv.session.MapCountTotals;
import io.farheap.kv.session.SessionOwner;
import io.farheap.kv.space.KeptBuffer;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.MappedFaults;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.RpcQueue;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.time.TimeLimit;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.agrona.collections.IntArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * A session of a leased map. A get whose key has a pointer is one READ of its block: a hit if the copy is the whole,
 * live block of the pointer's incarnation and of the key, and the lease held when the READ had completed. If only the
 * lease was over by then, a renewal says whether the block is current. All else is a call of the server that has the
 * key's shard, which answers with a pointer and a lease for later gets.
 *
 * <p>A value that needs pieces travels in no call. One that is stored is written into this process's area at the server
 * before the call; one that is got is read by the pointer: first the index, then the pieces. Of the index's copy the
 * mark says whether the object is current, as of any block; or the call's answer has said so, and then only the
 * incarnation counts. A piece's incarnation says all about a piece. The session stores one such value at a time, and
 * reads one.
 *
 * <p>A lease's term counts from when the call was sent, so it is over here before it is at the server. It buys speed:
 * what a copy says of itself is right whatever clocks say.
 */
public final class LeasedSession implements EngineSession {

    /** Calls of so many bytes each way travel in batches; longer ones alone. */
    private static final int SHORT_BYTES = 2048;

    /** Over as many of a server's threads as it has. */
    private static final int THREADS = 64;

    private static final RpcOptions SHORT =
            new RpcOptions(8, 4, SHORT_BYTES, THREADS, RpcOptions.DEFAULT.inlineBytes());
    private static final RpcOptions LONG = new RpcOptions(
            2,
            1,
            Math.max(LeasedCalls.MOST_REQUEST_BYTES, LeasedCalls.MOST_ANSWER_BYTES),
            THREADS,
            RpcOptions.DEFAULT.inlineBytes());

    /** After so many hits by READ, the session reports some of the process's. */
    private static final int HITS_PER_REPORT = 128;
    /** The tag of a report; those of requests are less, those of connections are more. */
    private static final long REPORT_TAG = 1L << 32;
    /** Added to a request's place in the tags of READs of pieces. */
    private static final long PIECE_TAG = 1L << 33;
    /** Added to a request's place in the tags of WRITEs into the area. */
    private static final long AREA_TAG = 1L << 34;
    /** Added to a server's number in the tags of WRITEs of reports. */
    private static final long WRITTEN_REPORT_TAG = 1L << 35;
    /** Added to a server's number in the tags of READs of how many reports are merged. */
    private static final long MERGED_TAG = 1L << 36;

    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** The longest sleep while more than one queue may have something to poll. */
    private static final long MIXED_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    /** How long a session waits before it asks once more for what it was refused. */
    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long CLOSE_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(1));
    /** After so long a request asks again whose key is on another server now. */
    private static final long MOVING_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    /** A process that changes the map's servers, and ends, is followed by another within this time. */
    private static final long MOST_MOVING_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** The same while a lease is lost: the process learns of no change until it has opened the map again. */
    private static final long MOST_MOVING_LOST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** For so long after a call was sent the server keeps the pieces of a value that the answer names, at least. */
    private static final long HELD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** How many connections may fail under one request. */
    private static final int MOST_FAILURES = 16;

    // The queues.
    private static final int CALLS = 0;
    private static final int LONG_CALLS = 1;
    private static final int READS = 2;
    private static final int QUEUES = 3;

    private static final int LEAST_QUEUE = 8;
    private static final int REPORT_BYTES =
            LeasedCalls.ANSWER_VALUE + LeasedCalls.reportBytes(LeasedCalls.MOST_REPORTED);

    private static final int NO_SERVER = -1;

    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final LeasedSpace space;
    private final long session;
    private final LeasedPointers pointers;
    private final MapCountTotals tally;
    private final LongSupplier nanoTime;
    private final Runnable onClose;
    private final MapSessionCounts counts = new MapSessionCounts();
    private final KeptBuffer memory;
    private final RegisteredBuffer buffer;
    private final MemorySegment bytes;
    private final RpcQueue calls;
    private final RemoteMemory remote;
    /** Opened when the first long call is made. */
    private @Nullable RpcQueue longCalls;

    /** READs, and WRITEs into the areas. */
    private final RemoteQueue reads;

    private final ClientAreas areas;
    private final AreaWriter writer;
    private final PieceReader reader;
    private final ReportWriter reports;
    private final QueueLines callLines;
    private final QueueLines longLines;
    private final QueueLines readLines;
    private final LeasedPlaces places;
    /** Places whose next step can be posted, and could not be when it was tried. */
    private final IntArrayQueue ready;

    private final SessionOwner owner = new SessionOwner();
    private final ReplyHandler callEnds = (tag, outcome, replied) -> called(tag, outcome, replied, false);
    private final ReplyHandler longCallEnds = (tag, outcome, replied) -> called(tag, outcome, replied, true);
    private final CompletionHandler readEnds = this::read;
    private final AdaptivePart.ReportedUses reported = this::addReported;
    /** Offset of the report and of its answer. */
    private final long reportAt;

    private int hits;
    /** The shard of the first block of the report. */
    private int reportedShard;
    /** A server that does not know the ring of reports, and one whose ring is full; or {@link #NO_SERVER}. */
    private int newServer;

    private int fullServer;
    /** The server to which a call announces the ring of reports, or {@link #NO_SERVER}. */
    private int toldServer = NO_SERVER;

    private boolean reporting;
    private int waiting;
    private int moving;
    /** Whether a request is ready that no attempt was made to post. */
    private boolean untried;
    /** By server, of short calls, of long ones and of READs: the round in which there was no room. */
    private final int[][] full = new int[QUEUES][];

    private int round;
    private long version;
    private @Nullable KeyBatch batch;
    /** Why there is no queue of long calls. */
    private String refused = "";
    /** Why the request that ends next is lost, or finds no room. */
    private String refusal = "";
    /** By place: the same, until the request is handed over; and of the one that was handed over last. */
    private final String[] refusals;

    private String lastRefusal = "";
    /** Whether a request waits for a part of an area, which other sessions have. */
    private boolean starved;
    /** When it may be asked for again. */
    private long longTry = System.nanoTime();

    /**
     * @param session its name, as {@link LeasedCalls#session(int, long)} has it
     * @param pointers of the process
     * @param areas of the process
     * @param requests in flight at most, a power of two and at most 1,024
     * @param nanoTime the clock by which leases are counted
     * @param onClose run when the session has been closed
     */
    public LeasedSession(
            RemoteMemory remote,
            LeasedSpace space,
            long session,
            LeasedPointers pointers,
            ClientAreas areas,
            int requests,
            MapCountTotals tally,
            LongSupplier nanoTime,
            Runnable onClose) {
        this.remote = remote;
        this.space = space;
        this.session = session;
        this.pointers = pointers;
        this.areas = areas;
        this.tally = tally;
        this.nanoTime = nanoTime;
        this.onClose = onClose;
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(new KeptBuffer(remote, LeasedPlaces.memoryBytes(requests) + REPORT_BYTES));
            calls = stack.add(remote.openRpcQueue(SHORT));
            int depth = Math.min(Math.max(requests, PieceReader.WINDOW), remote.maxQueueDepth());
            reads = stack.add(remote.openQueue(QueueOptions.DEFAULT.withDepth(depth)));
            writer = stack.add(new AreaWriter(remote, areas, space.checksum()));
            reader = stack.add(new PieceReader(remote, space));
            stack.keep();
        }
        int servers = space.servers();
        areas.grow();
        reports = new ReportWriter(areas, session, servers);
        buffer = memory.buffer();
        bytes = buffer.segment();
        places = new LeasedPlaces(requests);
        refusals = new String[requests];
        Arrays.fill(refusals, "");
        reportAt = LeasedPlaces.memoryBytes(requests);
        ready = new IntArrayQueue(Math.max(LEAST_QUEUE, requests), -1);
        for (int queue = 0; queue < QUEUES; queue++) {
            full[queue] = new int[servers];
        }
        long now = nanoTime.getAsLong();
        callLines = new QueueLines(space, (server, tag) -> calls.reconnect(space.server(server), tag), now);
        longLines = new QueueLines(space, this::reconnectLong, now);
        readLines = new QueueLines(space, (server, tag) -> reads.reconnect(space.server(server), tag), now);
        tally.opened(counts, reads::posted);
    }

    @Override
    public boolean get(MemorySegment key, long tag) {
        return begin(RequestColumns.GET, key, PaddedKeys.check(key.byteSize()), NOTHING, 0, 0, tag);
    }

    @Override
    public boolean delete(MemorySegment key, long tag) {
        return begin(RequestColumns.DELETE, key, PaddedKeys.check(key.byteSize()), NOTHING, 0, 0, tag);
    }

    @Override
    public boolean increment(MemorySegment key, long delta, long tag) {
        return begin(RequestColumns.INCREMENT, key, PaddedKeys.check(key.byteSize()), NOTHING, 0, delta, tag);
    }

    @Override
    public boolean touch(MemorySegment key, long lifeMillis, long tag) {
        ObjectLife.check(lifeMillis);
        return begin(RequestColumns.TOUCH, key, PaddedKeys.check(key.byteSize()), NOTHING, lifeMillis, 0, tag);
    }

    @Override
    public boolean store(int kind, MemorySegment key, MemorySegment value, long lifeMillis, long argument, long tag) {
        int keyBytes = PaddedKeys.check(key.byteSize());
        checkValue(value.byteSize());
        ObjectLife.check(lifeMillis);
        return begin(kind, key, keyBytes, value, lifeMillis, argument, tag);
    }

    private static void checkValue(long valueBytes) {
        if (valueBytes > LeasedPieces.MOST_VALUE_BYTES) {
            throw new IllegalArgumentException("a value of " + valueBytes + " bytes; it has at most "
                    + LeasedPieces.MOST_VALUE_BYTES + ": store it under several keys");
        }
    }

    @Override
    public boolean getAll(KeyBatch keys, long tag) {
        owner.checkOpen();
        return run(keys, false, 0, tag);
    }

    @Override
    public boolean setAll(KeyBatch keysAndValues, long lifeMillis, long tag) {
        ObjectLife.check(lifeMillis);
        for (int i = 0; i < keysAndValues.size(); i++) {
            checkValue(keysAndValues.valueBytes(i));
        }
        owner.checkOpen();
        return run(keysAndValues, true, lifeMillis, tag);
    }

    private boolean run(KeyBatch of, boolean set, long lifeMillis, long tag) {
        if (batch != null) {
            return false;
        }
        of.begin(set, tag, lifeMillis);
        batch = of;
        issue(of);
        return true;
    }

    private void issue(KeyBatch of) {
        while (!of.issuedAll() && !places.full()) {
            if (of.stores() && LeasedPieces.needed(of.keyBytes(), of.storedBytes()) && !writer.isFree()) {
                return;
            }
            int place = places.free();
            places.ofBatch[place] = true;
            prepare(
                    place,
                    of.stores() ? RequestColumns.SET : RequestColumns.GET,
                    of.keyMemory(),
                    of.keyAt(),
                    of.keyBytes(),
                    of.stores() ? of.storedMemory() : NOTHING,
                    of.stores() ? of.storedAt() : 0,
                    of.stores() ? of.storedBytes() : 0,
                    of.lifeMillis(),
                    0,
                    0);
            of.issue();
            add(place);
        }
    }

    private boolean begin(
            int kind, MemorySegment key, int keyBytes, MemorySegment value, long lifeMillis, long argument, long tag) {
        owner.checkOpen();
        KeyBatch before = batch;
        if (places.full()
                || before != null && !before.issuedAll()
                || LeasedPieces.needed(keyBytes, value.byteSize()) && !writer.isFree()) {
            return false;
        }
        int place = places.free();
        places.ofBatch[place] = false;
        prepare(place, kind, key, 0, keyBytes, value, 0, (int) value.byteSize(), lifeMillis, argument, tag);
        add(place);
        return true;
    }

    private void prepare(
            int place,
            int kind,
            MemorySegment key,
            long keyFrom,
            int keyBytes,
            MemorySegment value,
            long valueFrom,
            int valueBytes,
            long lifeMillis,
            long argument,
            long tag) {
        long at = LeasedPlaces.requestAt(place);
        boolean inPieces = LeasedPieces.needed(keyBytes, valueBytes);
        PaddedKeys.store(key, keyFrom, keyBytes, bytes.address() + at + LeasedCalls.KEY);
        if (!inPieces) {
            MemorySegment.copy(value, valueFrom, bytes, at + LeasedCalls.valueAt(keyBytes), valueBytes);
            MappedFaults.raise(value);
        }
        places.kind[place] = kind;
        places.tag[place] = tag;
        places.keyBytes[place] = keyBytes;
        places.valueBytes[place] = valueBytes;
        places.lifeMillis[place] = lifeMillis;
        places.argument[place] = argument;
        places.hash[place] = space.keyHash().of(NativeMemory.ALL, bytes.address() + at + LeasedCalls.KEY, keyBytes);
        places.server[place] = serverOf(place);
        places.moved[place] = false;
        places.waited[place] = false;
        places.next[place] = LeasedPlaces.BEGIN;
        if (inPieces && !writer.begin(place, places.server[place], value, valueFrom, valueBytes)) {
            places.next[place] = LeasedPlaces.NO_MEMORY;
        }
        places.failures[place] = 0;
        places.count[place]++;
        places.version[place] = 0;
        places.foundBytes[place] = 0;
        places.foundAt[place] = 0;
    }

    /** The server that has a request's key. */
    private int serverOf(int place) {
        return known(space.serverOfKey(places.hash[place]));
    }

    /** A server that may have joined since the session was opened. */
    private int known(int server) {
        if (server >= full[0].length) {
            int servers = space.servers();
            long now = nanoTime.getAsLong();
            callLines.grow(servers, now);
            longLines.grow(servers, now);
            readLines.grow(servers, now);
            areas.grow();
            reports.grow(servers);
            for (int queue = 0; queue < QUEUES; queue++) {
                full[queue] = Arrays.copyOf(full[queue], servers);
            }
        }
        return server;
    }

    private void add(int place) {
        if (space.isCutOff()) {
            // Looked at after the request was made: one that was made before may still take effect.
            places.next[place] = LeasedPlaces.GIVE_UP;
        }
        if (places.add()) {
            places.step[place] = LeasedPlaces.HELD;
        } else {
            start(place);
        }
    }

    private void start(int place) {
        places.step[place] = LeasedPlaces.READY;
        if (!ready.isEmpty()) {
            again(place, places.next[place]);
        } else if (!advance(place)) {
            ready.addInt(place);
        }
    }

    /** Posts what a request does next. @return false if there is no room for it, or the leases end */
    private boolean advance(int place) {
        if (hasPending(place) && (space.isEnding() || space.hasEnded())) {
            // What is in flight of it ends first.
            places.step[place] = LeasedPlaces.POSTED;
            return true;
        }
        if (space.hasEnded() || places.next[place] == LeasedPlaces.GIVE_UP) {
            end(place, KvStatus.LOST);
            return true;
        }
        if (space.isEnding()) {
            return false;
        }
        if (!space.hasServer(places.server[place]) && mayMove(place)) {
            moveTo(place, serverOf(place));
        }
        if (places.next[place] == LeasedPlaces.BEGIN) {
            boolean gets = places.kind[place] == RequestColumns.GET;
            places.next[place] = gets ? firstStep(place) : writer.isOf(place) ? LeasedPlaces.WRITE : LeasedPlaces.ASK;
        }
        return switch (places.next[place]) {
            case LeasedPlaces.READ, LeasedPlaces.READ_NAMED -> postRead(place);
            case LeasedPlaces.RENEW -> call(LeasedCalls.RENEW, place, false);
            case LeasedPlaces.READ_PIECES -> readPieces(place);
            case LeasedPlaces.WRITE -> write(place);
            case LeasedPlaces.NO_MEMORY -> {
                end(place, KvStatus.NO_MEMORY);
                yield true;
            }
            // The kinds of requests have the order of the calls.
            default -> call(LeasedCalls.GET + places.kind[place], place, places.next[place] == LeasedPlaces.ASK_LONG);
        };
    }

    /** Whether a request whose server has left the map can be made at another one: it has taken no effect there. */
    private boolean mayMove(int place) {
        return !hasPending(place) && (places.kind[place] == RequestColumns.GET || places.failures[place] == 0);
    }

    /** Another server has a request's key. */
    private void moveTo(int place, int server) {
        places.server[place] = server;
        if (reader.isOf(place)) {
            // The answer of the other server has nothing to do with the pieces that were read.
            releaseReader();
        }
        if (writer.isOf(place)) {
            writer.moveTo(server);
            places.next[place] = LeasedPlaces.WRITE;
        } else if (places.next[place] != LeasedPlaces.ASK_LONG && places.next[place] != LeasedPlaces.NO_MEMORY) {
            places.next[place] = LeasedPlaces.ASK;
        }
    }

    /**
     * A get whose key has a pointer is a READ if the lease is not over, and also if the value is too long for a short
     * answer: then the lease is renewed after the READ. If only the length is known, it asks for a long answer at once.
     */
    private int firstStep(int place) {
        RemotePointer pointer = places.pointer[place];
        long now = nanoTime.getAsLong();
        if (!pointers.find(places.hash[place], now, pointer) || pointer.keyBytes != places.keyBytes[place]) {
            return LeasedPlaces.ASK;
        }
        if (pointer.incarnation == 0) {
            return LeasedPlaces.ASK_LONG;
        }
        if (space.serverOf(LeasedCalls.shard(pointer.place)) != places.server[place]) {
            // The block was marked when the key went to another server.
            pointers.drop(places.hash[place], pointer.incarnation);
            return LeasedPlaces.ASK;
        }
        return now - pointer.leasedUntil < 0 || isLong(pointer.valueBytes) ? LeasedPlaces.READ : LeasedPlaces.ASK;
    }

    /** Whether READs of pieces, or WRITEs of the value, are in flight. */
    private boolean hasPending(int place) {
        return reader.isOf(place) && reader.pending() > 0 || writer.isOf(place) && writer.pending() > 0;
    }

    /** Posts READs of pieces, as long as there are any, and then joins them. As {@link #advance}. */
    private boolean readPieces(int place) {
        int server = places.server[place];
        if (!reader.isOf(place)) {
            if (!reader.isFree() || !places.isOldest(place)) {
                return false;
            }
            if (!reader.begin(place, places.pointer[place], bytes, LeasedPlaces.answerAt(place))) {
                end(place, KvStatus.NO_MEMORY);
                return true;
            }
        }
        if (reader.hasMore() && !reader.hasFailed() && !isFull(READS, server)) {
            int posted = reader.post(reads, PIECE_TAG + place);
            if (posted == PostResult.FULL) {
                full[READS][server] = round;
            } else if (posted == PostResult.LOST) {
                readLines.fails(server, nanoTime.getAsLong());
            }
        }
        if (reader.pending() > 0) {
            places.step[place] = LeasedPlaces.POSTED;
            return true;
        }
        if (reader.hasFailed()) {
            releaseReader();
            askAgain(place);
            return true;
        }
        if (reader.hasMore()) {
            return false;
        }
        if (reader.join()) {
            places.foundAt[place] = 0;
            places.foundBytes[place] = places.pointer[place].valueBytes;
            end(place, KvStatus.DONE);
        } else {
            releaseReader();
            stale(place);
        }
        return true;
    }

    /** Others may wait for it. */
    private void releaseReader() {
        reader.release();
        untried |= !ready.isEmpty();
    }

    /** A copy is not the object of the pointer: the server has the key's present one. */
    private void stale(int place) {
        RemotePointer pointer = places.pointer[place];
        counts.add(MapSessionCounts.STALE_POINTERS);
        pointers.drop(places.hash[place], pointer.incarnation);
        askAgain(place);
    }

    private void askAgain(int place) {
        RemotePointer pointer = places.pointer[place];
        if (!isInPieces(place)) {
            // A long answer has the value whatever happens to the block meanwhile.
            again(place, isLong(pointer.valueBytes) ? LeasedPlaces.ASK_LONG : LeasedPlaces.ASK);
        } else if (++places.failures[place] <= MOST_FAILURES) {
            again(place, LeasedPlaces.ASK);
        } else {
            refusal = ": the value changes faster than this process can read its pieces, or connections fail";
            end(place, KvStatus.LOST);
        }
    }

    /** Whether the object that a pointer names is in pieces. */
    private boolean isInPieces(int place) {
        RemotePointer pointer = places.pointer[place];
        return LeasedPieces.needed(pointer.keyBytes, pointer.valueBytes);
    }

    /** A READ of a piece has ended. */
    private void readPiece(int place, int outcome, long now) {
        reader.ended(outcome == Outcome.DONE);
        if (outcome == Outcome.DONE) {
            readLines.works(places.server[place]);
        } else {
            readLines.fails(places.server[place], now);
        }
        if (places.step[place] == LeasedPlaces.POSTED
                && (reader.pending() == 0 || reader.hasMore() && !reader.hasFailed())) {
            again(place, LeasedPlaces.READ_PIECES);
        }
    }

    /** Posts WRITEs of a value, as long as there are any; then the server is called. As {@link #advance}. */
    private boolean write(int place) {
        int server = places.server[place];
        if (writer.pending() == 0 && writer.hasFailed()) {
            writer.rewind();
            awaitLineAgain(place);
            return true;
        }
        if (writer.pending() == 0 && !readLines.isUp(server)) {
            awaitLine(place);
            return true;
        }
        if (!writer.takesPart()) {
            String why = areas.refusal(server);
            if (why.isEmpty() && areas.mayHold(server, places.valueBytes[place])) {
                if (!writer.hasWaitedLong()) {
                    starved = true;
                    return false;
                }
                why = ": other sessions of this process have the memory of " + space.server(server)
                        + " through which long values go; poll each of them until its requests have ended";
            }
            refusal = why;
            end(place, KvStatus.NO_ROOM);
            return true;
        }
        if (writer.hasMore() && !writer.hasFailed() && !isFull(READS, server)) {
            int posted = writer.post(reads, AREA_TAG + place);
            if (posted == PostResult.FULL) {
                full[READS][server] = round;
            } else if (posted == PostResult.LOST) {
                readLines.fails(server, nanoTime.getAsLong());
            }
        }
        if (writer.pending() > 0) {
            places.step[place] = LeasedPlaces.POSTED;
            return true;
        }
        if (writer.hasFailed()) {
            writer.rewind();
            awaitLineAgain(place);
            return true;
        }
        if (writer.hasMore()) {
            return false;
        }
        places.next[place] = LeasedPlaces.ASK;
        return advance(place);
    }

    /** A WRITE into the area has ended. */
    private void written(int place, int outcome, long now) {
        writer.ended(outcome == Outcome.DONE);
        if (outcome == Outcome.DONE) {
            readLines.works(places.server[place]);
        } else {
            readLines.fails(places.server[place], now);
        }
        if (places.step[place] == LeasedPlaces.POSTED
                && (writer.pending() == 0 || writer.hasMore() && !writer.hasFailed())) {
            again(place, LeasedPlaces.WRITE);
        }
    }

    /** Whether a value is too long for a short answer. */
    private static boolean isLong(int valueBytes) {
        return LeasedCalls.ANSWER_VALUE + valueBytes > SHORT_BYTES;
    }

    private boolean postRead(int place) {
        int server = places.server[place];
        if (isFull(READS, server)) {
            return false;
        }
        RemotePointer pointer = places.pointer[place];
        if (places.next[place] == LeasedPlaces.READ_NAMED && isInPieces(place)) {
            if (!reader.isFree() || !places.isOldest(place)) {
                places.waited[place] = true;
                return false;
            }
            long now = nanoTime.getAsLong();
            boolean waited = places.waited[place];
            places.waited[place] = false;
            if (waited && now - places.sentAt[place] > HELD_NANOS && now - pointer.leasedUntil >= 0) {
                // It has waited for its turn for longer than the server may keep the blocks.
                places.next[place] = LeasedPlaces.ASK;
                return advance(place);
            }
        }
        int posted = reads.read(
                space.region(pointer.place),
                space.offset(pointer.place),
                buffer,
                LeasedPlaces.answerAt(place),
                LeasedBlock.bytes(pointer.keyBytes, pointer.valueBytes),
                place);
        if (posted == PostResult.OK) {
            places.step[place] = LeasedPlaces.POSTED;
            return true;
        }
        if (posted == PostResult.FULL) {
            full[READS][server] = round;
            return false;
        }
        if (posted == PostResult.LOST) {
            readLines.fails(server, nanoTime.getAsLong());
        }
        if (isInPieces(place)) {
            if (posted == PostResult.LOST) {
                awaitLineAgain(place);
            } else {
                end(place, KvStatus.LOST);
            }
            return true;
        }
        // The server may answer a call.
        places.next[place] = isLong(pointer.valueBytes) ? LeasedPlaces.ASK_LONG : LeasedPlaces.ASK;
        return advance(place);
    }

    /** Whether there was no room in this round: requests that are ready are tried once between two polls. */
    private boolean isFull(int queue, int server) {
        return full[queue][server] == round && round != 0;
    }

    private boolean call(int operation, int place, boolean longAnswer) {
        int kind = places.kind[place];
        int server = places.server[place];
        boolean renews = operation == LeasedCalls.RENEW;
        int keyBytes = places.keyBytes[place];
        boolean inArea = writer.isOf(place);
        int length = LeasedCalls.valueAt(keyBytes) + (inArea ? LeasedCalls.AREA_BYTES : places.valueBytes[place]);
        boolean isLong = longAnswer || length > SHORT_BYTES;
        if (isFull(isLong ? LONG_CALLS : CALLS, server)) {
            return false;
        }
        boolean changes = kind != RequestColumns.GET;
        if (!lines(isLong).isUp(server) || changes && !lines(!isLong).isUp(server)) {
            // An earlier change of the key may be on its way over the other line: it is fenced before this one is made.
            awaitLine(place);
            return true;
        }
        RpcQueue queue = isLong ? longCalls() : calls;
        if (queue == null) {
            end(place, KvStatus.LOST);
            return true;
        }
        long at = LeasedPlaces.requestAt(place);
        LeasedCalls.request(
                bytes,
                at,
                space.spaceId(server),
                keyBytes,
                places.valueBytes[place],
                renews ? places.pointer[place].incarnation : places.argument[place],
                places.lifeMillis[place]);
        if (inArea) {
            LeasedCalls.valueInArea(bytes, at, keyBytes, writer.regionId(), writer.at(), writer.sum());
        }
        if (kind != RequestColumns.GET) {
            LeasedCalls.name(bytes, at, session, place, places.count[place]);
        }
        long answerAt = renews ? LeasedPlaces.shortAnswerAt(place) : LeasedPlaces.answerAt(place);
        int room = LeasedCalls.ANSWER_VALUE;
        if (kind == RequestColumns.GET && !renews) {
            room = longAnswer ? LeasedCalls.MOST_ANSWER_BYTES : SHORT_BYTES;
        } else if (kind == RequestColumns.INCREMENT) {
            room += Long.BYTES;
        }
        long now = nanoTime.getAsLong();
        int posted = queue.call(space.server(server), operation, buffer, at, length, answerAt, room, place);
        switch (posted) {
            case PostResult.OK -> {
                places.sentAt[place] = now;
                places.step[place] = LeasedPlaces.POSTED;
                counts.add(MapSessionCounts.CALLS);
                if (renews) {
                    counts.add(MapSessionCounts.RENEWALS);
                }
            }
            case PostResult.FULL -> {
                full[isLong ? LONG_CALLS : CALLS][server] = round;
                return false;
            }
            case PostResult.LOST -> {
                lines(isLong).fails(server, now);
                awaitLineAgain(place);
            }
            default -> end(place, KvStatus.LOST);
        }
        return true;
    }

    private QueueLines lines(boolean isLong) {
        return isLong ? longLines : callLines;
    }

    /** The queue of long calls, or null if the server has no rings for it. */
    private @Nullable RpcQueue longCalls() {
        if (longCalls == null && System.nanoTime() - longTry >= 0) {
            try {
                longCalls = remote.openRpcQueue(LONG);
                refused = "";
            } catch (ControlException e) {
                refused = ": " + e.getMessage();
                longTry = System.nanoTime() + AGAIN_NANOS;
            }
        }
        return longCalls;
    }

    private void reconnectLong(int server, long tag) {
        RpcQueue queue = longCalls;
        if (queue != null) {
            queue.reconnect(space.server(server), tag);
        }
    }

    /** A connection has failed under a request, which waits for another one, unless too many have. */
    private void awaitLineAgain(int place) {
        if (++places.failures[place] <= MOST_FAILURES) {
            awaitLine(place);
        } else {
            end(place, KvStatus.LOST);
        }
    }

    /** A request waits for its connection. */
    private void awaitLine(int place) {
        places.step[place] = LeasedPlaces.WAITING;
        waiting++;
    }

    private void called(long tag, int outcome, int replied, boolean isLong) {
        long now = nanoTime.getAsLong();
        if (lines(isLong).ended(tag, outcome, now)) {
            return;
        }
        if (tag == REPORT_TAG) {
            reporting = false;
            if (toldServer != NO_SERVER) {
                boolean accepted = outcome == Outcome.DONE
                        && replied >= Integer.BYTES
                        && LeasedCalls.status(bytes, reportAt) == KvStatus.DONE;
                reports.answered(toldServer, accepted);
                toldServer = NO_SERVER;
            }
            return;
        }
        int place = (int) tag;
        int kind = places.kind[place];
        if (outcome == Outcome.DONE && replied >= LeasedCalls.ANSWER_VALUE) {
            lines(isLong).works(places.server[place]);
            if (places.next[place] == LeasedPlaces.RENEW) {
                renewed(place);
            } else {
                answered(place, kind, replied);
            }
            return;
        }
        if (outcome == Outcome.UNKNOWN || outcome == Outcome.NOT_POSTED || outcome == Outcome.REFUSED) {
            lines(isLong).fails(places.server[place], now);
            // The server carries out a call that changes something once, however often it comes.
            places.next[place] = places.next[place] == LeasedPlaces.RENEW ? LeasedPlaces.ASK : places.next[place];
            awaitLineAgain(place);
        } else {
            end(place, KvStatus.LOST);
        }
    }

    private void answered(int place, int kind, int replied) {
        long at = LeasedPlaces.answerAt(place);
        int status = LeasedCalls.status(bytes, at);
        int valueBytes = LeasedCalls.answerValueBytes(bytes, at);
        int inline = LeasedCalls.inlineBytes(bytes, at);
        if (status == LeasedCalls.ELSEWHERE) {
            moves(place);
            return;
        }
        if ((status == LeasedCalls.TORN || status == LeasedCalls.NO_AREA) && writer.isOf(place)) {
            writeAgain(place, status);
            return;
        }
        if (status < 0 || status > KvStatus.NO_VERSION || inline < 0 || inline > replied - LeasedCalls.ANSWER_VALUE) {
            refusal = refusal(status, space.server(places.server[place]));
            end(place, KvStatus.LOST);
            return;
        }
        refusal = "";
        places.version[place] = LeasedCalls.version(bytes, at);
        boolean inPieces = LeasedPieces.needed(places.keyBytes[place], valueBytes);
        boolean hasPointer = status == KvStatus.DONE && keep(place, at, valueBytes);
        boolean known = status == KvStatus.DONE && kind != RequestColumns.TOUCH || status == KvStatus.ABSENT;
        if (!hasPointer && known) {
            pointers.drop(places.hash[place], Long.MAX_VALUE);
            if (status == KvStatus.DONE && kind == RequestColumns.GET && isLong(valueBytes) && !inPieces) {
                keepLength(place, valueBytes);
            }
        }
        boolean withValue = status == KvStatus.DONE && (kind == RequestColumns.GET || kind == RequestColumns.INCREMENT);
        if (!withValue) {
            end(place, status);
        } else if (inPieces && kind == RequestColumns.GET) {
            readNamed(place);
        } else if (inline == valueBytes) {
            places.foundAt[place] = at + LeasedCalls.ANSWER_VALUE;
            places.foundBytes[place] = inline;
            end(place, status);
        } else if (places.next[place] == LeasedPlaces.ASK_LONG) {
            // No value is longer than a long answer may be.
            end(place, KvStatus.LOST);
        } else {
            again(place, hasPointer ? LeasedPlaces.READ : LeasedPlaces.ASK_LONG);
        }
    }

    /** The server does not have the key: servers join or leave, and the process may not know yet where the key is. */
    private void moves(int place) {
        long now = nanoTime.getAsLong();
        if (!places.moved[place]) {
            places.moved[place] = true;
            places.movedAt[place] = now;
        }
        places.asksAt[place] = now + MOVING_NANOS;
        places.step[place] = LeasedPlaces.MOVING;
        moving++;
        space.elsewhere();
    }

    private void lookAtMoving() {
        long now = moving > 0 ? nanoTime.getAsLong() : 0;
        long most = moving > 0 && space.hasLost() ? MOST_MOVING_LOST_NANOS : MOST_MOVING_NANOS;
        for (int i = 0; moving > 0 && i < places.inUse(); i++) {
            int place = places.at(i);
            if (places.step[place] != LeasedPlaces.MOVING) {
                continue;
            }
            int server = serverOf(place);
            if (space.hasEnded() || now - places.movedAt[place] > most) {
                moving--;
                end(place, KvStatus.LOST);
            } else if (server != places.server[place] || now - places.asksAt[place] >= 0) {
                // Nothing of it was carried out, so another server can do so.
                moving--;
                if (server != places.server[place]) {
                    moveTo(place, server);
                }
                again(place, places.next[place]);
            }
        }
    }

    /** Why a server has not carried out a request, for messages. */
    private static String refusal(int status, RemoteServer server) {
        return switch (status) {
            case LeasedCalls.NO_MAP ->
                ": " + server + " says that the map has ended, or that this process has it open no more; open it again";
            case LeasedCalls.ELSEWHERE ->
                ": " + server + " says that another server has the key; run the same release there and here";
            case LeasedCalls.WRONG ->
                ": " + server + " refuses the request; run the same release there and here, and in one process no "
                        + "sessions with more than " + LeasedCalls.MOST_PLACES + " requests in all";
            default -> ": " + server + " has sent an answer that cannot be, of status " + status;
        };
    }

    /** The server's copy of the value was not this one, or it does not know the area: another call stores it. */
    private void writeAgain(int place, int status) {
        RemoteServer server = space.server(places.server[place]);
        if (++places.failures[place] > MOST_FAILURES) {
            refusal = status == LeasedCalls.TORN
                    ? ": " + server + " finds another value than this process has written into its area"
                    : ": " + server + " does not know this process's area";
            end(place, KvStatus.LOST);
            return;
        }
        if (status == LeasedCalls.NO_AREA) {
            writer.dropPart();
        }
        // The server has answered the call, and would give the same answer again.
        places.count[place]++;
        writer.rewind();
        again(place, LeasedPlaces.WRITE);
    }

    /** The value is where the answer says, for as long as it takes, or the copy tells that it is not. */
    private void readNamed(int place) {
        if (isUsable(place)) {
            again(place, LeasedPlaces.READ_NAMED);
        } else {
            refusal = ": " + space.server(places.server[place]) + " names no block of the map";
            end(place, KvStatus.LOST);
        }
    }

    /** Whether the pointer of a request leads to a block that its server may have named. */
    private boolean isUsable(int place) {
        RemotePointer pointer = places.pointer[place];
        return pointer.incarnation != 0
                && space.has(pointer.place, pointer.keyBytes, pointer.valueBytes)
                && space.region(pointer.place).server() == space.server(places.server[place]);
    }

    /** Remembers that the value of a key is long, though it has no lease, so that the next get asks for it at once. */
    private void keepLength(int place, int valueBytes) {
        RemotePointer pointer = places.pointer[place];
        pointer.incarnation = 0;
        pointer.place = 0;
        pointer.keyBytes = places.keyBytes[place];
        pointer.valueBytes = valueBytes;
        pointer.leasedUntil = places.sentAt[place];
        pointers.put(places.hash[place], pointer);
    }

    /** Keeps the pointer of an answer, if it has one that can be used. @return whether it has */
    private boolean keep(int place, long answerAt, int valueBytes) {
        RemotePointer pointer = places.pointer[place];
        pointer.incarnation = LeasedCalls.incarnation(bytes, answerAt);
        pointer.place = LeasedCalls.place(bytes, answerAt);
        pointer.keyBytes = places.keyBytes[place];
        pointer.valueBytes = valueBytes;
        long term = LeasedCalls.termNanos(bytes, answerAt);
        pointer.leasedUntil = places.sentAt[place] + LeaseClock.ofClient(term);
        if (term <= 0 || !isUsable(place)) {
            return false;
        }
        pointers.put(places.hash[place], pointer);
        return true;
    }

    private void again(int place, int next) {
        places.next[place] = next;
        places.step[place] = LeasedPlaces.READY;
        ready.addInt(place);
        untried = true;
    }

    /** The block that was read is current if the server still has it for the key. */
    private void renewed(int place) {
        long at = LeasedPlaces.shortAnswerAt(place);
        int status = LeasedCalls.status(bytes, at);
        RemotePointer pointer = places.pointer[place];
        if (status == KvStatus.DONE && LeasedCalls.incarnation(bytes, at) == pointer.incarnation) {
            long read = LeasedPlaces.answerAt(place);
            keep(place, at, pointer.valueBytes);
            found(place, read);
            return;
        }
        pointers.drop(places.hash[place], pointer.incarnation);
        if (status == KvStatus.ABSENT) {
            end(place, KvStatus.ABSENT);
        } else {
            askAgain(place);
        }
    }

    private void found(int place, long block) {
        if (isInPieces(place)) {
            places.version[place] = LeasedBlock.version(bytes, block);
            again(place, LeasedPlaces.READ_PIECES);
            return;
        }
        places.version[place] = LeasedBlock.version(bytes, block);
        places.foundAt[place] = block + LeasedBlock.valueAt(places.keyBytes[place]);
        places.foundBytes[place] = places.pointer[place].valueBytes;
        end(place, KvStatus.DONE);
    }

    private void read(long tag, int outcome) {
        long now = nanoTime.getAsLong();
        if (readLines.ended(tag, outcome, now)) {
            return;
        }
        int place = (int) tag;
        if (tag >= WRITTEN_REPORT_TAG) {
            reported(tag >= MERGED_TAG, place, outcome, now);
            return;
        }
        if (tag >= AREA_TAG) {
            written(place, outcome, now);
            return;
        }
        if (tag >= PIECE_TAG) {
            readPiece(place, outcome, now);
            return;
        }
        if (outcome != Outcome.DONE) {
            readLines.fails(places.server[place], now);
            if (isInPieces(place)) {
                askAgain(place);
            } else {
                again(place, LeasedPlaces.ASK);
            }
            return;
        }
        readLines.works(places.server[place]);
        RemotePointer pointer = places.pointer[place];
        long at = LeasedPlaces.answerAt(place);
        boolean named = places.next[place] == LeasedPlaces.READ_NAMED;
        boolean live = named
                ? LeasedBlock.isWhole(
                        bytes, at, pointer.incarnation, pointer.keyBytes, pointer.valueBytes, space.checksum())
                : LeasedBlock.isLive(
                        bytes, at, pointer.incarnation, pointer.keyBytes, pointer.valueBytes, space.checksum());
        if (!live
                || !LeasedBlock.hasKey(
                        bytes, at, bytes, LeasedPlaces.requestAt(place) + LeasedCalls.KEY, places.keyBytes[place])) {
            stale(place);
        } else if (named) {
            found(place, at);
        } else if (now - pointer.leasedUntil >= 0) {
            again(place, LeasedPlaces.RENEW);
        } else {
            hits++;
            counts.add(MapSessionCounts.POINTER_HITS);
            found(place, at);
        }
    }

    private void end(int place, int status) {
        if (writer.isOf(place)) {
            writer.end();
            untried |= !ready.isEmpty();
        }
        if (status != KvStatus.DONE && reader.isOf(place)) {
            releaseReader();
        }
        refusals[place] = refusal;
        refusal = "";
        int follower = places.end(place, status);
        counts.ended(places.kind[place], status);
        if (follower != LeasedPlaces.NO_PLACE) {
            again(follower, places.next[follower]);
        }
    }

    @Override
    public int poll(KvHandler to) {
        owner.beginPoll();
        try {
            calls.poll(callEnds);
            RpcQueue longs = longCalls;
            if (longs != null) {
                longs.poll(longCallEnds);
            }
            reads.poll(readEnds);
            writer.memory.tidy();
            reader.memory.tidy();
            lookAtLines();
            lookAtMoving();
            advanceAll();
            int handed = 0;
            while (places.inUse() > 0 && places.step[places.first()] == LeasedPlaces.ENDED) {
                hand(to);
                handed++;
            }
            KeyBatch more = batch;
            if (more != null && !more.issuedAll()) {
                issue(more);
            }
            if (hits >= HITS_PER_REPORT && !reporting) {
                report();
            }
            send();
            return handed;
        } finally {
            owner.endPoll();
        }
    }

    private void send() {
        calls.send();
        RpcQueue longs = longCalls;
        if (longs != null) {
            longs.send();
        }
    }

    /** Reports how often this process has read blocks that it has read again and again, of one shard at a time. */
    private void report() {
        hits = 0;
        newServer = NO_SERVER;
        fullServer = NO_SERVER;
        int blocks = pointers.takeUses(reported, LeasedCalls.MOST_REPORTED);
        if (blocks == 0) {
            if (newServer != NO_SERVER) {
                tell(newServer);
            } else if (fullServer != NO_SERVER) {
                readMerged(fullServer);
            }
            return;
        }
        int server = space.serverOf(reportedShard);
        if (!space.hasServer(server)) {
            return;
        }
        long at = reportAt + LeasedCalls.ANSWER_VALUE;
        LeasedCalls.report(bytes, at, space.spaceId(server), reportedShard, blocks);
        if (!reports.sends(server)) {
            writeReport(server, blocks);
            return;
        }
        int posted = calls.call(
                space.server(server),
                LeasedCalls.REPORT,
                buffer,
                at,
                LeasedCalls.reportBytes(blocks),
                reportAt,
                LeasedCalls.ANSWER_VALUE,
                REPORT_TAG);
        // A report that cannot be posted is lost: nothing but a popularity depends on it.
        reporting = posted == PostResult.OK;
        reports.sent(server);
    }

    private boolean addReported(int number, long place, long incarnation, int uses) {
        if (number == 0) {
            int shard = LeasedCalls.shard(place);
            int server = known(space.serverOf(shard));
            if (!space.hasServer(server) || !mayReport(server)) {
                return false;
            }
            reportedShard = shard;
        } else if (LeasedCalls.shard(place) != reportedShard) {
            return false;
        }
        LeasedCalls.reported(
                bytes, reportAt + LeasedCalls.ANSWER_VALUE, number, LeasedCalls.unit(place), uses, incarnation);
        return true;
    }

    /** Whether a report to a server can be sent or written now. */
    private boolean mayReport(int server) {
        if (reports.sends(server) || reports.hasPlace(server)) {
            return true;
        }
        if (reports.isNew(server)) {
            newServer = server;
        } else {
            fullServer = server;
        }
        return false;
    }

    /** Tells a server where this session writes its reports. */
    private void tell(int server) {
        AreaPart ring = reports.ring(server);
        RemoteRegion region = ring == null ? null : ring.region;
        if (ring == null || region == null) {
            return;
        }
        long at = reportAt + LeasedCalls.ANSWER_VALUE;
        LeasedCalls.ring(
                bytes,
                at,
                space.spaceId(server),
                region.regionId(),
                ring.at,
                reports.merged(server),
                reports.session());
        int posted = calls.call(
                space.server(server),
                LeasedCalls.REPORT_RING,
                buffer,
                at,
                LeasedCalls.KEY,
                reportAt,
                LeasedCalls.ANSWER_VALUE,
                REPORT_TAG);
        reporting = posted == PostResult.OK;
        toldServer = reporting ? server : NO_SERVER;
    }

    /** Writes a report into its place of the ring; if that is not possible, or fails, the report is lost. */
    private void writeReport(int server, int blocks) {
        AreaPart ring = reports.ring(server);
        RemoteRegion region = ring == null ? null : ring.region;
        if (ring == null || region == null || !reports.hasPlace(server)) {
            return;
        }
        long number = reports.written(server) + 1;
        long at = reportAt + LeasedCalls.ANSWER_VALUE - ReportRing.REPORT;
        ReportRing.seal(bytes, at, number, blocks, space.checksum());
        int posted = reads.write(
                region,
                ring.at + ReportRing.placeOf(number),
                buffer,
                at,
                ReportRing.bytes(blocks),
                WRITTEN_REPORT_TAG + server);
        reportPosted(server, posted);
    }

    private void reportPosted(int server, int posted) {
        reporting = posted == PostResult.OK;
        if (posted == PostResult.LOST) {
            readLines.fails(server, nanoTime.getAsLong());
        }
    }

    /** The ring is full, as far as is known: reads how many reports the server has merged. */
    private void readMerged(int server) {
        AreaPart ring = reports.ring(server);
        RemoteRegion region = ring == null ? null : ring.region;
        if (ring == null || region == null) {
            return;
        }
        int posted = reads.read(region, ring.at, buffer, reportAt, Long.BYTES, MERGED_TAG + server);
        reportPosted(server, posted);
    }

    /** The WRITE of a report has ended, or the READ of how many are merged. */
    private void reported(boolean merged, int server, int outcome, long now) {
        reporting = false;
        if (outcome != Outcome.DONE) {
            readLines.fails(server, now);
        } else if (merged) {
            reports.merged(server, bytes.get(ValueLayout.JAVA_LONG, reportAt));
        } else {
            reports.wrote(server);
        }
    }

    private void lookAtLines() {
        boolean up = callLines.areUp() && longLines.areUp() && readLines.areUp();
        if (!up && !space.isEnding()) {
            long now = nanoTime.getAsLong();
            callLines.look(now);
            longLines.look(now);
            readLines.look(now);
        }
        for (int i = 0; waiting > 0 && i < places.inUse(); i++) {
            int place = places.at(i);
            if (places.step[place] != LeasedPlaces.WAITING) {
                continue;
            }
            int server = places.server[place];
            if (!space.hasEnded() && !space.hasServer(server) && mayMove(place)) {
                waiting--;
                again(place, places.next[place]);
            } else if (space.hasEnded() || isGone(place, server)) {
                waiting--;
                end(place, KvStatus.LOST);
            } else if (isUp(place, server)) {
                waiting--;
                again(place, places.next[place]);
            }
        }
    }

    /** Whether the next step of a request is posted to the queue of READs. */
    private boolean isOneSided(int place) {
        int next = places.next[place];
        return next == LeasedPlaces.READ || next == LeasedPlaces.READ_NAMED || next == LeasedPlaces.WRITE;
    }

    /** Whether a connection that a request waits for will not be there soon. */
    private boolean isGone(int place, int server) {
        if (isOneSided(place) && readLines.isGone(server)) {
            return true;
        }
        // A get can be sent again whatever became of an earlier one, so it waits for its own line.
        return places.kind[place] == RequestColumns.GET
                ? !isOneSided(place)
                        && lines(places.next[place] == LeasedPlaces.ASK_LONG).isGone(server)
                : callLines.isGone(server) || longLines.isGone(server);
    }

    /** Whether the connections that a request waits for are there. */
    private boolean isUp(int place, int server) {
        if (isOneSided(place) && !readLines.isUp(server)) {
            return false;
        }
        return places.kind[place] == RequestColumns.GET
                ? isOneSided(place)
                        || lines(places.next[place] == LeasedPlaces.ASK_LONG).isUp(server)
                : callLines.isUp(server) && longLines.isUp(server);
    }

    private void advanceAll() {
        untried = false;
        starved = false;
        round++;
        for (int left = ready.size(); left > 0; left--) {
            int place = ready.pollInt();
            if (!advance(place)) {
                ready.addInt(place);
            }
        }
    }

    private void hand(KvHandler to) {
        int place = places.first();
        int status = places.status[place];
        int kind = places.kind[place];
        boolean hasVersion = status == KvStatus.DONE && kind != RequestColumns.DELETE && kind != RequestColumns.TOUCH;
        version = hasVersion ? places.version[place] : 0;
        long at = places.foundAt[place];
        int length = places.foundBytes[place];
        MemorySegment memory = reader.isOf(place) ? reader.value() : bytes;
        KeyBatch of = places.ofBatch[place] ? batch : null;
        if (of == null || !refusals[place].isEmpty()) {
            lastRefusal = refusals[place];
        }
        try {
            if (of == null) {
                to.completed(places.tag[place], status, memory, at, length);
            } else if (of.take(status, version, memory, at, length)) {
                batch = null;
                to.completed(of.tag(), of.worst(), bytes, 0, 0);
            }
        } finally {
            if (reader.isOf(place)) {
                releaseReader();
            }
            places.removeFirst();
        }
    }

    @Override
    public void await(long nanos) {
        owner.checkIdle();
        // What is ready and was tried waits for room, and so for something that is in flight.
        if (untried || places.inUse() > 0 && places.step[places.first()] == LeasedPlaces.ENDED) {
            return;
        }
        send();
        boolean waits = waiting > 0 || moving > 0 || starved || !isConnected() || space.isEnding();
        long most = waits ? Math.min(nanos, SLEEP_NANOS) : nanos;
        boolean shorts = calls.underWay() > 0;
        RpcQueue longQueue = longCalls;
        boolean longs = longQueue != null && longQueue.underWay() > 0;
        boolean reading = reads.inFlight() > 0;
        if ((shorts ? 1 : 0) + (longs ? 1 : 0) + (reading ? 1 : 0) > 1) {
            most = Math.min(most, MIXED_NANOS);
        }
        if (longQueue != null && longs) {
            longQueue.await(most);
        } else if (reading) {
            reads.await(most);
        } else {
            calls.await(most);
        }
    }

    @Override
    public int inFlight() {
        return places.inUse();
    }

    @Override
    public long version() {
        return version;
    }

    @Override
    public boolean settled() {
        return true;
    }

    @Override
    public String trouble() {
        if (space.isCutOff()) {
            return ": this process holds leases on less than half of the map's servers, which others may have replaced";
        }
        for (int i = 0; i < space.servers(); i++) {
            if (!space.hasServer(i)) {
                continue;
            }
            RemoteServer server = space.server(i);
            if (server.lost() != null) {
                return ": the lease on " + server + " is lost";
            }
            if (!callLines.isUp(i) || !longLines.isUp(i)) {
                return ": the connection to " + server + " has failed";
            }
        }
        return lastRefusal.isEmpty() ? refused : lastRefusal;
    }

    @Override
    public boolean isConnected() {
        return callLines.areUp() && longLines.areUp() && readLines.areUp();
    }

    @Override
    public boolean isOver() {
        return space.hasEnded();
    }

    /** {@inheritDoc} A call whose connection has failed may still be carried out until the leases have ended. */
    @Override
    public boolean isReplaced() {
        return space.hasEnded() || space.isEnding() && callLines.areUp() && longLines.areUp();
    }

    @Override
    public boolean mayClose() {
        owner.checkOpen();
        return places.inUse() == 0 && !owner.isPolling();
    }

    @Override
    public void release() {
        owner.release();
    }

    @Override
    public VerbCounts posted() {
        return reads.posted();
    }

    @Override
    public void close() {
        if (owner.isClosed()) {
            return;
        }
        owner.checkIdle();
        try {
            long deadline = System.nanoTime() + CLOSE_NANOS;
            while (places.inUse() > 0 && !space.hasEnded() && System.nanoTime() - deadline < 0) {
                if (poll((tag, status, found, at, length) -> {}) == 0) {
                    await(SLEEP_NANOS);
                }
            }
        } finally {
            owner.close();
            tally.closed(counts);
            RpcQueue longs = longCalls;
            Closeables.all(calls, longs != null ? longs : () -> {}, reads, writer, reader, memory, onClose::run);
        }
    }
}
