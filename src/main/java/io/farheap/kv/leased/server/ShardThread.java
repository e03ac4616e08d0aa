package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.ObjectLife;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ReportRing;
import io.farheap.memory.NativeMemory;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandler;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.service.ServerWork;
import io.farheap.thread.FailSafeLog;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one of a server's threads does for leased maps: it carries out the calls of the shards that belong to it, and
 * hands other calls to the threads of theirs. The thread alone uses it, but for {@link #hand} and {@link #hasEnded}.
 */
final class ShardThread implements ServerWork, ShardOwner {

    private static final System.Logger LOG = System.getLogger(ShardThread.class.getName());

    /** Calls of other threads that are carried out between two looks at the thread's rings. */
    private static final int MOST_AT_ONCE = 32;

    /** How often the rings of reports are looked at while the thread is busy, and at how many of them at a time. */
    private static final long LOOK_NANOS = 100_000;

    private static final int MOST_LOOKS = 64;
    /** The most rings of reports. */
    private static final int MOST_RINGS = 1 << 14;

    private final ServedMaps maps;
    private final ServedSpaces spaces;
    private final Runnable wake;
    private final ShardAnswer answer = new ShardAnswer();
    private final MemorySegment replies = MemorySegment.ofArray(new byte[LeasedCalls.MOST_ANSWER_BYTES]);
    private final MemorySegment sum = MemorySegment.ofArray(new long[1]);
    private final HandedCalls handed = new HandedCalls();
    private final HandedCalls returned = new HandedCalls();
    /** Calls that were taken and not carried out yet. */
    private @Nullable HandedCall next;
    /** Empty ones. */
    private @Nullable HandedCall spare;

    private @Nullable ServedSpace lastSpace;
    private @Nullable ServedShards lastShards;
    private @Nullable LeaseSessions lastSessions;
    private @Nullable ServedShards lastSessionsOf;
    private long lastLease;
    /** How many threads there were when this one last looked which shards should be its own. */
    private int peers;

    /** How often shards had lost keys when this one last looked for those of its own; and whether it still looks. */
    private int releases;

    private boolean settling;

    /** The sessions of the process whose report is merged. */
    private @Nullable LeaseSessions reporting;

    private long reportedAt;

    private final LeasedShard.ReadBudget budget = this::takeReads;
    /** By kind of call: executes it on this thread. */
    private final RpcHandler[] handlers = new RpcHandler[LeasedCalls.REPORT_RING - LeasedCalls.GET + 1];

    /** Calls whose values are copied before they are carried out, one after another. */
    private final ArrayDeque<HandedCall> staging = new ArrayDeque<>();
    /** The shard that has pieces of the first of them, or null. */
    private @Nullable LeasedShard stagingIn;

    /** The rings of sessions whose calls come to this thread. */
    private final List<WrittenReports> rings = new ArrayList<>();

    private final MemorySegment written = MemorySegment.ofArray(new byte[ReportRing.MOST_BYTES]);
    /** When they were looked at, and which of them comes next. */
    private long lookedAt = System.nanoTime();

    private int nextRing;

    private volatile boolean ended;

    ShardThread(ServedMaps maps, ServedSpaces spaces, Runnable wake) {
        this.maps = maps;
        this.spaces = spaces;
        this.wake = wake;
        for (int kind = 0; kind < handlers.length; kind++) {
            int operation = LeasedCalls.GET + kind;
            handlers[kind] = (held, in, out) -> execute(operation, held, in, out);
        }
    }

    private long takeReads(long reads) {
        LeaseSessions of = reporting;
        return of == null ? 0 : of.take(reads, reportedAt);
    }

    /** The handler of a kind of calls, on this thread. */
    RpcHandler handler(int operation) {
        return handlers[operation - LeasedCalls.GET];
    }

    @Override
    public boolean hasEnded() {
        return ended;
    }

    @Override
    public void hand(HandedCall call) {
        handed.push(call);
        if (ended) {
            // It may have looked at its calls for the last time.
            handOn(handed.takeAll());
        }
        wake.run();
    }

    /** As {@link RpcHandler#execute}, of a call with a key. */
    int execute(int operation, HeldRegions held, Arguments in, Reply out) {
        MemorySegment request = NativeMemory.ALL;
        long from = in.address(0, in.bytes());
        if (out.capacity() < LeasedCalls.ANSWER_VALUE || in.bytes() < LeasedCalls.KEY) {
            throw new IllegalArgumentException("a call of " + in.bytes() + " bytes with room for " + out.capacity()
                    + "; it has at least " + LeasedCalls.KEY + ", and room for " + LeasedCalls.ANSWER_VALUE);
        }
        ServedSpace space = spaces.find(LeasedCalls.space(request, from));
        ServedShards shards = space == null || !space.openedBy(held.lease()) ? null : shards(space);
        if (space == null || shards == null) {
            return refuse(out, LeasedCalls.NO_MAP);
        }
        if (operation == LeasedCalls.REPORT) {
            return report(shards, space.id(), held.lease(), request, from, in, out);
        }
        if (operation == LeasedCalls.REPORT_RING) {
            return refuse(out, addRing(shards, held, request, from));
        }
        if (!isPossible(operation, request, from, in.bytes())) {
            return refuse(out, LeasedCalls.WRONG);
        }
        int keyBytes = LeasedCalls.keyBytes(request, from);
        long hash = shards.keyHash().of(request, from + LeasedCalls.KEY, keyBytes);
        RepeatableCalls calls =
                LeasedCalls.session(request, from) == 0 ? null : calls(shards, held.lease(), request, from);
        if (calls == null && operation != LeasedCalls.GET && operation != LeasedCalls.RENEW) {
            return refuse(out, LeasedCalls.WRONG);
        }
        int index = shards.indexOfKey(hash);
        if (index == ServedShards.ELSEWHERE) {
            // The thread of the shard that had the key may be carrying this call out, which has come before.
            index = shards.formerIndexOfKey(hash);
        }
        if (index == ServedShards.ELSEWHERE) {
            return elsewhere(operation, calls, request, from, out);
        }
        boolean inArea = LeasedCalls.form(request, from) != 0;
        ShardOwner owner = owner(shards, index);
        if (owner == this && !inArea) {
            return carryOut(
                    operation,
                    shards,
                    index,
                    calls,
                    null,
                    request,
                    from,
                    hash,
                    NativeMemory.ALL,
                    out.address(0, out.capacity()),
                    out.capacity());
        }
        HandedCall call = spare();
        call.operation = operation;
        call.lease = held.lease();
        call.space = space.id();
        call.shard = index;
        call.hash = hash;
        call.calls = calls;
        call.held = inArea ? held : null;
        call.copy(request, from, in.bytes());
        call.pending = out.goesOn();
        if (owner == this) {
            staging.add(call);
        } else {
            owner.hand(call);
        }
        return RpcHandler.LATER;
    }

    /** Answers a call for a key that no shard here has: if it has come before, as it was answered then. */
    private int elsewhere(int operation, @Nullable RepeatableCalls calls, MemorySegment request, long from, Reply out) {
        int place = LeasedCalls.callPlace(request, from);
        long count = LeasedCalls.callCount(request, from);
        if (calls == null || calls.isNew(place, count)) {
            return refuse(out, LeasedCalls.ELSEWHERE);
        }
        sum.set(JAVA_LONG, 0, calls.answer(place, count, answer));
        long to = out.address(0, LeasedCalls.ANSWER_VALUE);
        LeasedCalls.answer(NativeMemory.ALL, to, answer.status, answer.valueBytes, answer.version, 0, 0, 0);
        if (operation != LeasedCalls.INCREMENT
                || answer.status != KvStatus.DONE
                || out.capacity() < LeasedCalls.ANSWER_VALUE + Long.BYTES) {
            return LeasedCalls.ANSWER_VALUE;
        }
        LeasedCalls.value(NativeMemory.ALL, to, sum, 0, Long.BYTES);
        return LeasedCalls.ANSWER_VALUE + Long.BYTES;
    }

    private int report(
            ServedShards shards, long space, long lease, MemorySegment request, long from, Arguments in, Reply out) {
        int blocks = LeasedCalls.reported(request, from);
        int index = shards.indexOf(LeasedCalls.reportedShard(request, from));
        if (blocks < 0 || blocks > LeasedCalls.MOST_REPORTED || LeasedCalls.reportBytes(blocks) > in.bytes()) {
            return refuse(out, LeasedCalls.WRONG);
        }
        if (index == ServedShards.ELSEWHERE) {
            return refuse(out, LeasedCalls.ELSEWHERE);
        }
        ShardOwner owner = owner(shards, index);
        if (owner == this) {
            return merge(
                    shards,
                    index,
                    lease,
                    request,
                    from,
                    false,
                    NativeMemory.ALL,
                    out.address(0, LeasedCalls.ANSWER_VALUE));
        }
        HandedCall call = spare();
        call.operation = LeasedCalls.REPORT;
        call.lease = lease;
        call.space = space;
        call.shard = index;
        call.copy(request, from, in.bytes());
        call.pending = out.goesOn();
        owner.hand(call);
        return RpcHandler.LATER;
    }

    /**
     * A session writes reports from now on, instead of those of an earlier session of its number. A thread that knows
     * the earlier ring forgets it at its next look.
     *
     * @return a status
     */
    int addRing(ServedShards shards, HeldRegions held, MemorySegment request, long from) {
        int session = LeasedCalls.sessionNumber(LeasedCalls.session(request, from));
        WrittenReports ring = new WrittenReports(
                held,
                sessions(shards, held.lease()).reports,
                LeasedCalls.space(request, from),
                session,
                LeasedCalls.ringRegion(request, from),
                LeasedCalls.ringOffset(request, from),
                LeasedCalls.ringBefore(request, from));
        if (!ring.isHeld()) {
            return LeasedCalls.NO_AREA;
        }
        rings.removeIf(
                each -> each.session == session && each.space == ring.space && each.held.lease() == held.lease());
        if (rings.size() == MOST_RINGS) {
            return LeasedCalls.WRONG;
        }
        ring.begin();
        rings.add(ring);
        return KvStatus.DONE;
    }

    /** Merges reports that were written since the last look. @return whether there were any */
    private boolean mergeWritten() {
        long now = System.nanoTime();
        if (now - lookedAt < LOOK_NANOS) {
            return false;
        }
        boolean any = false;
        for (int i = Math.min(MOST_LOOKS, rings.size()); i > 0; i--) {
            nextRing = nextRing + 1 < rings.size() ? nextRing + 1 : 0;
            WrittenReports ring = rings.get(nextRing);
            boolean stays = false;
            try {
                ServedShards shards = shards(ring);
                stays = shards != null;
                if (shards != null && ring.take(written, shards.checksum())) {
                    any = true;
                    merge(shards, ring.space, ring.held.lease());
                }
            } catch (RuntimeException e) {
                // As for a call that fails, the thread continues. The session tells of its ring again.
                stays = false;
                FailSafeLog.log(LOG, "reports of a leased map that were written failed", e);
            }
            if (!stays) {
                rings.remove(nextRing);
            }
        }
        lookedAt = System.nanoTime();
        return any;
    }

    /** The map of a ring, or null if no report is to be taken from the ring any more. */
    private @Nullable ServedShards shards(WrittenReports ring) {
        ServedSpace space = spaces.find(ring.space);
        return space == null || !space.openedBy(ring.held.lease()) || !ring.isPresent() || !ring.isHeld()
                ? null
                : shards(space);
    }

    /** Merges the report in {@link #written}, here or on the thread of its shard. */
    private void merge(ServedShards shards, long space, long lease) {
        int index = shards.indexOf(LeasedCalls.reportedShard(written, ReportRing.REPORT));
        if (index == ServedShards.ELSEWHERE) {
            return;
        }
        ShardOwner owner = owner(shards, index);
        if (owner == this) {
            merge(shards, index, lease, written, ReportRing.REPORT, true, replies, 0);
            return;
        }
        HandedCall call = spare();
        call.operation = LeasedCalls.REPORT;
        call.lease = lease;
        call.space = space;
        call.shard = index;
        call.copy(written, ReportRing.REPORT, ReportRing.MOST_BYTES - ReportRing.REPORT);
        call.pending = null;
        call.written = true;
        owner.hand(call);
    }

    private int merge(
            ServedShards shards,
            int index,
            long lease,
            MemorySegment request,
            long from,
            boolean wasWritten,
            MemorySegment to,
            long at) {
        reporting = sessions(shards, lease);
        reportedAt = shards.now();
        shards.shard(index).report(request, from, wasWritten, budget);
        LeasedCalls.answer(to, at, KvStatus.DONE, 0, 0, 0, 0, 0);
        return LeasedCalls.ANSWER_VALUE;
    }

    private static int refuse(Reply out, int status) {
        LeasedCalls.answer(NativeMemory.ALL, out.address(0, LeasedCalls.ANSWER_VALUE), status, 0, 0, 0, 0, 0);
        return LeasedCalls.ANSWER_VALUE;
    }

    /** Whether a request of so many bytes has lengths and times that can be, and a key that is padded with zeros. */
    private static boolean isPossible(int operation, MemorySegment request, long from, int bytes) {
        int keyBytes = LeasedCalls.keyBytes(request, from);
        long life = LeasedCalls.lifeMillis(request, from);
        if (keyBytes < 1
                || keyBytes > BlockFormat.MOST_KEY_BYTES
                || !hasPossibleValue(operation, request, from, keyBytes, bytes)
                || life < 0
                || life > ObjectLife.MOST_MILLIS) {
            return false;
        }
        for (int at = keyBytes; at < BlockFormat.padded(keyBytes); at++) {
            if (request.get(JAVA_BYTE, from + LeasedCalls.KEY + at) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether the value is in the request, or needs pieces and is in the caller's area. */
    private static boolean hasPossibleValue(int operation, MemorySegment request, long from, int keyBytes, int bytes) {
        int valueBytes = LeasedCalls.valueBytes(request, from);
        return switch (LeasedCalls.form(request, from)) {
            case 0 ->
                valueBytes >= 0
                        && !LeasedPieces.needed(keyBytes, valueBytes)
                        && LeasedCalls.valueAt(keyBytes) + valueBytes <= bytes;
            case 1 ->
                LeasedCalls.stores(operation)
                        && valueBytes <= LeasedPieces.MOST_VALUE_BYTES
                        && LeasedPieces.needed(keyBytes, valueBytes)
                        && LeasedCalls.valueAt(keyBytes) + LeasedCalls.AREA_BYTES <= bytes;
            default -> false;
        };
    }

    /**
     * The address in this process of a value in the caller's area, or 0 if the caller does not hold that memory. Until
     * this thread leaves its gate, no other client gets it.
     */
    private static long areaAddress(@Nullable HeldRegions held, MemorySegment request, long from) {
        int keyBytes = LeasedCalls.keyBytes(request, from);
        long region = held == null ? 0 : held.address(LeasedCalls.areaRegion(request, from, keyBytes));
        if (held == null || region == 0) {
            return 0;
        }
        long offset = LeasedCalls.areaOffset(request, from, keyBytes);
        long last = held.regionBytes() - LeasedCalls.valueBytes(request, from);
        return offset >= 0 && offset <= last ? region + offset : 0;
    }

    /** The calls of a request's session, or null if there can be no such session or place. */
    private @Nullable RepeatableCalls calls(ServedShards shards, long lease, MemorySegment request, long from) {
        if (LeasedCalls.callPlace(request, from) >= LeasedCalls.MOST_SESSIONS
                || LeasedCalls.callCount(request, from) == 0) {
            return null;
        }
        return sessions(shards, lease).of(LeasedCalls.session(request, from), LeasedCalls.callPlace(request, from));
    }

    private LeaseSessions sessions(ServedShards shards, long lease) {
        LeaseSessions last = lastSessions;
        if (last == null || lease != lastLease || shards != lastSessionsOf || last.hasEnded()) {
            last = shards.sessions(lease);
            lastSessions = last;
            lastSessionsOf = shards;
            lastLease = lease;
        }
        return last;
    }

    private @Nullable ServedShards shards(ServedSpace space) {
        if (space != lastSpace) {
            lastShards = maps.shards(space);
            lastSpace = space;
        }
        return lastShards;
    }

    /** The thread that a shard belongs to; this one if it had none that lives. */
    private ShardOwner owner(ServedShards shards, int index) {
        while (true) {
            ShardOwner owner = shards.owner(index);
            if (owner != null && !owner.hasEnded()) {
                return owner;
            }
            if (shards.give(index, owner, this)) {
                return this;
            }
        }
    }

    /**
     * Carries a call out on a shard of this thread's, or finds the answer that it has had.
     *
     * @param value its value, if that needs pieces
     * @param to receives the answer from {@code toAt} on
     * @param capacity of the client's room for it
     * @return the length of the answer
     */
    private int carryOut(
            int operation,
            ServedShards shards,
            int index,
            @Nullable RepeatableCalls calls,
            @Nullable ShardPieces value,
            MemorySegment request,
            long from,
            long hash,
            MemorySegment to,
            long toAt,
            int capacity) {
        LeasedShard shard = shards.shard(index);
        shards.settle(index);
        boolean moved = shards.indexOfKey(hash) != index;
        boolean first = true;
        if (calls == null) {
            if (moved) {
                answer.clear(LeasedCalls.ELSEWHERE);
            } else {
                shard.call(operation, request, from, hash, answer);
            }
        } else {
            int place = LeasedCalls.callPlace(request, from);
            long count = LeasedCalls.callCount(request, from);
            first = moved ? calls.isNew(place, count) : calls.begin(place, count);
            if (first && moved) {
                if (value != null) {
                    shard.abandon(value);
                }
                answer.clear(LeasedCalls.ELSEWHERE);
            } else if (first) {
                shard.call(operation, request, from, hash, value, answer);
                calls.end(place, count, answer, sum(operation, shard));
            } else {
                sum.set(JAVA_LONG, 0, calls.answer(place, count, answer));
            }
        }
        LeasedCalls.answer(
                to,
                toAt,
                answer.status,
                answer.valueBytes,
                answer.version,
                LeasedCalls.place(shards.number(index), answer.unit),
                answer.incarnation,
                answer.termNanos);
        boolean increments = operation == LeasedCalls.INCREMENT;
        int valueBytes = increments && !first ? Long.BYTES : answer.valueBytes;
        if (answer.status != KvStatus.DONE
                || !increments && operation != LeasedCalls.GET
                || answer.inPieces
                || LeasedCalls.ANSWER_VALUE + valueBytes > capacity) {
            return LeasedCalls.ANSWER_VALUE;
        }
        if (first) {
            LeasedCalls.value(to, toAt, shard.memory(), answer.valueAt, valueBytes);
        } else {
            LeasedCalls.value(to, toAt, sum, 0, valueBytes);
        }
        return LeasedCalls.ANSWER_VALUE + valueBytes;
    }

    private long sum(int operation, LeasedShard shard) {
        return operation == LeasedCalls.INCREMENT && answer.status == KvStatus.DONE
                ? shard.memory().get(JAVA_LONG, answer.valueAt)
                : 0;
    }

    private HandedCall spare() {
        if (spare == null) {
            spare = returned.takeAll();
        }
        HandedCall call = spare;
        if (call == null) {
            return new HandedCall(returned::push);
        }
        spare = call.next;
        return call;
    }

    @Override
    public boolean run(boolean busy) {
        if (peers != maps.threads() && stagingIn == null) {
            peers = maps.threads();
            maps.giveAway(this);
        }
        if (releases != maps.releases()) {
            releases = maps.releases();
            settling = true;
        }
        settling = settling && settleOne();
        if (next == null && !handed.isEmpty()) {
            next = handed.takeAll();
        }
        for (int i = 0; i < MOST_AT_ONCE && next != null; i++) {
            HandedCall call = next;
            next = call.next;
            carryOut(call);
        }
        if (!staging.isEmpty()) {
            stage(staging.getFirst());
        }
        boolean merged = !rings.isEmpty() && mergeWritten();
        return settling || merged || !staging.isEmpty() || next != null || !handed.isEmpty();
    }

    /** Has one shard of this thread drop the keys that it has no more. @return whether there may be others */
    private boolean settleOne() {
        for (ServedShards shards : maps.all()) {
            if (spaces.find(shards.space().id()) == null) {
                // A space that has ended has no memory.
                continue;
            }
            for (int index = 0; index < shards.count(); index++) {
                if (!shards.isSettled(index) && owner(shards, index) == this) {
                    shards.settle(index);
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public void look() {
        wake.run();
    }

    private void carryOut(HandedCall call) {
        PendingCall pending = call.pending;
        if (pending == null ? !call.written : pending.cancelled()) {
            // Its connection has failed: the client sends it again, or has had another answer, which this may not undo.
            giveBack(call);
            return;
        }
        // It is given back once: a call that is twice among those to be used again is behind itself there.
        boolean handedOn = false;
        try {
            ServedShards shards = shards(call);
            int bytes = LeasedCalls.ANSWER_VALUE;
            if (shards == null) {
                LeasedCalls.answer(replies, 0, LeasedCalls.NO_MAP, 0, 0, 0, 0, 0);
            } else {
                ShardOwner owner = owner(shards, call.shard);
                if (owner != this) {
                    handedOn = true;
                    owner.hand(call);
                    return;
                }
                if (call.held != null) {
                    handedOn = true;
                    staging.add(call);
                    return;
                }
                bytes = call.operation == LeasedCalls.REPORT
                        ? merge(shards, call.shard, call.lease, call.request, 0, call.written, replies, 0)
                        : carryOut(
                                call.operation,
                                shards,
                                call.shard,
                                call.calls,
                                null,
                                call.request,
                                0,
                                call.hash,
                                replies,
                                0,
                                pending == null ? 0 : pending.capacity());
            }
            if (pending != null) {
                pending.answer(replies, 0, bytes);
            }
        } catch (RuntimeException e) {
            FailSafeLog.log(LOG, "a call of a leased map failed", e);
            if (!handedOn && pending != null) {
                pending.fail();
            }
        } catch (Error e) {
            // It ends this thread, but not that of the client's connection, which would wait for an answer for ever.
            if (!handedOn && pending != null) {
                pending.fail();
            }
            throw e;
        } finally {
            if (!handedOn) {
                giveBack(call);
            }
        }
    }

    /** The map of a call, or null if its caller has it open no more. */
    private @Nullable ServedShards shards(HandedCall call) {
        ServedSpace space = spaces.find(call.space);
        return space == null || !space.openedBy(call.lease) ? null : shards(space);
    }

    /** Copies some of the value of the first of the calls in {@link #staging}, and carries the call out after all. */
    private void stage(HandedCall call) {
        PendingCall pending = call.pending;
        ServedShards shards = shards(call);
        boolean done = true;
        try {
            if (shards == null) {
                // The map's memory may be another one's.
                answer(pending, LeasedCalls.NO_MAP);
            } else if (owner(shards, call.shard) != this) {
                // It was given away while the value of another call was copied.
                done = false;
                staging.removeFirst();
                owner(shards, call.shard).hand(call);
            } else if (pending == null || pending.cancelled()) {
                shards.shard(call.shard).abandon(call.pieces);
            } else {
                done = stage(call, shards, pending);
            }
        } catch (RuntimeException e) {
            FailSafeLog.log(LOG, "a call of a leased map failed", e);
            fail(done ? pending : null);
        } catch (Error e) {
            fail(done ? pending : null);
            throw e;
        } finally {
            if (done) {
                stagingIn = null;
                staging.removeFirst();
                // What a failure has left is freed when the shard is put in order.
                call.pieces.clear();
                giveBack(call);
            }
        }
    }

    /** @param pending null if the call is another thread's, or has no answer */
    private static void fail(@Nullable PendingCall pending) {
        if (pending != null) {
            pending.fail();
        }
    }

    private void answer(@Nullable PendingCall pending, int status) {
        LeasedCalls.answer(replies, 0, status, 0, 0, 0, 0, 0);
        if (pending != null) {
            pending.answer(replies, 0, LeasedCalls.ANSWER_VALUE);
        }
    }

    /**
     * Answers a call that stores nothing. Its client makes it as another one; this one stores nothing later, either.
     */
    private void answerForGood(HandedCall call, PendingCall pending, int status) {
        RepeatableCalls calls = call.calls;
        int place = LeasedCalls.callPlace(call.request, 0);
        long count = LeasedCalls.callCount(call.request, 0);
        if (calls != null && calls.begin(place, count)) {
            answer.clear(status);
            calls.end(place, count, answer, 0);
        }
        answer(pending, status);
    }

    /** @return whether the call has ended */
    private boolean stage(HandedCall call, ServedShards shards, PendingCall pending) {
        LeasedShard shard = shards.shard(call.shard);
        RepeatableCalls calls = call.calls;
        boolean isNew = calls != null
                && calls.isNew(LeasedCalls.callPlace(call.request, 0), LeasedCalls.callCount(call.request, 0));
        ShardPieces value = null;
        if (isNew && shards.indexOfKey(call.hash) != call.shard) {
            shard.abandon(call.pieces);
            answer(pending, LeasedCalls.ELSEWHERE);
            return true;
        }
        if (isNew) {
            long area = areaAddress(call.held, call.request, 0);
            if (area == 0) {
                shard.abandon(call.pieces);
                answerForGood(call, pending, LeasedCalls.NO_AREA);
                return true;
            }
            stagingIn = shard;
            int status = shard.stage(call.operation, call.request, 0, call.hash, area, call.pieces);
            if (status == KvStatus.DONE && !call.pieces.isWhole()) {
                return false;
            }
            if (status == KvStatus.NO_ROOM || status == LeasedCalls.TORN) {
                answerForGood(call, pending, status);
                return true;
            }
            // If a condition does not hold, there are no pieces, and the call ends without them.
            value = call.pieces;
        } else {
            // It has come before, and was carried out meanwhile: it has an answer.
            shard.abandon(call.pieces);
        }
        int bytes = carryOut(
                call.operation,
                shards,
                call.shard,
                calls,
                value,
                call.request,
                0,
                call.hash,
                replies,
                0,
                pending.capacity());
        pending.answer(replies, 0, bytes);
        return true;
    }

    private static void giveBack(HandedCall call) {
        call.pending = null;
        call.calls = null;
        call.held = null;
        call.written = false;
        call.home.accept(call);
    }

    /**
     * Calls that it has not carried out go to the first thread that lives. If there is none, they have no answer, and
     * their clients' connections have failed.
     */
    @Override
    public void ended() {
        if (stagingIn != null) {
            stagingIn.interrupt();
        }
        ended = true;
        maps.remove(this);
        handOn(next);
        next = null;
        handOn(handed.takeAll());
        for (HandedCall call = staging.pollFirst(); call != null; call = staging.pollFirst()) {
            call.pieces.clear();
            call.next = null;
            handOn(call);
        }
    }

    private void handOn(@Nullable HandedCall first) {
        HandedCall call = first;
        while (call != null) {
            HandedCall following = call.next;
            PendingCall pending = call.pending;
            ShardOwner other = maps.anyThread();
            if (other != null) {
                other.hand(call);
            } else if (pending != null) {
                pending.fail();
            }
            call = following;
        }
    }
}
