package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.leased.format.LeaseClock;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ShardShape;
import io.farheap.kv.leased.format.ShardTotals;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A part of a leased map: the objects of the keys whose hashes belong to it. One thread at a time, which alone writes
 * the shard's memory; clients READ it meanwhile.
 *
 * <p><b>Invariants.</b> Of a key at most one block says live: a set marks the old block before the new one says so. A
 * block's bytes change only when its mark says that it is not live and its lease is over by this server's clock. When a
 * call returns, its marks are behind a fence, so a READ that is posted after the answer has come finds them. An object
 * whose time has ended is marked before any caller learns that it is absent.
 *
 * <p><b>Pieces.</b> A value that is too long for a block is in {@linkplain LeasedPieces pieces}, each of which has an
 * entry that names the object's; they come and go with their object. Their blocks are written before the index, and
 * free only after it is marked, and they are leased for as long as the object is. A value is copied in steps, between
 * which other calls are carried out ({@link #stage}); until the call itself, no object has the blocks.
 *
 * <p><b>A call that does not end</b>, since something was thrown in it or its thread has died, leaves a prefix of its
 * stores. Blocks and entries say all: an entry whose block is marked, or was never live, is an absent key. So the next
 * call makes the queues, the table and the lists of free blocks again from these ({@link #rebuild}).
 */
final class LeasedShard {

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long NANOS_PER_USE = 62_500_000;
    private static final int NUMBER_SHIFT = 48;

    /** How many objects a call looks at, at most, for one that it may evict. */
    private static final int LOOKS = 64;
    /** The same in each other class. */
    private static final int OTHER_LOOKS = 8;
    /** How many blocks whose leases are over a call takes back, at most, unless it needs one. */
    private static final int TAKEN_BACK = 4;
    /** The same if it needs one, and may evict an object instead. */
    private static final int TAKEN_BACK_FOR_ROOM = 1000;
    /** How many heads of queues a call moves one queue down, at most. */
    private static final int DEMOTED = 2;
    /** One in so many evictions looks whether another class has a colder object. */
    private static final int BALANCE = 32;
    /** How many keys a chain of the table has at most: a client that knows the hash can choose the keys of one. */
    private static final int MOST_CHAIN = 64;
    /** A block is leased for at most so many times as long as the key's objects live until they are replaced. */
    private static final int TERMS_OF_LIFE = 2;
    /** The blocks of a value in pieces are kept for so long after a get at least, so that the client finds them. */
    private static final long HOLD_NANOS = 20_000_000;
    /** How many pieces of a value a step copies: 64 KiB, which takes some tens of microseconds. */
    private static final int PIECES_OF_STEP = 4;
    /** A value is large that needs more than one in so many bytes of the shard. */
    private static final int LARGE_SHARE = 16;
    /** Two values of one key have so many segments together, at most, in which both have blocks. */
    private static final int SHARED_SEGMENTS = 3;
    /** The bits of a rank below its queue. */
    private static final int QUEUE_SHIFT = 32;

    private static final long MOST_UNUSED = (1L << QUEUE_SHIFT) - 1;

    /** No size class. */
    private static final int ANY = -1;

    private final int number;
    private final MemorySegment memory;
    private final long at;
    private final LongSupplier nanoTime;
    private final BlockChecksum checksum;
    private final ShardEntries entries;
    private final BlockSegments segments;
    private final PopularityQueues queues;
    /** Blocks that are no object's any more and leased, by the ends of their leases. */
    private final EntryHeap marked;
    /** Those of an object that gets another index. */
    private final ShardPieces own = new ShardPieces();

    private final long heapAt;
    private final LeaseTerms terms;
    private final ShardCounts counts;
    private final long began;
    private final long allBytes;
    private final MemorySegment sum = MemorySegment.ofArray(new long[1]);
    /** Whether a call has begun and not ended. */
    private boolean busy;

    private long now;
    private long evictions;
    /** How many entries the chain of the call's key has, if the key is absent. */
    private int chain;
    /** The call's value, if that needs pieces, and its checksum as the client says. */
    private @Nullable ShardPieces staged;

    private long areaSum;
    /** Whether the call's value is so large that it finds no room although most objects are not leased. */
    private boolean large;
    /** How often the shard was put in order. */
    private int order;

    /** Ran by tests at each point at which a call may stop. */
    private Runnable fault = () -> {};

    /**
     * @param number among the map's shards
     * @param memory holds the shard from {@code at} on; zero if the shard is new
     * @param nanoTime the server's clock
     */
    LeasedShard(
            int number,
            MemorySegment memory,
            long at,
            ShardShape shape,
            LeasedDescriptor map,
            BlockChecksum checksum,
            LongSupplier nanoTime) {
        this.number = number;
        this.memory = memory;
        this.at = at;
        this.nanoTime = nanoTime;
        this.checksum = checksum;
        began = nanoTime.getAsLong();
        entries = new ShardEntries(memory, at, shape);
        segments = new BlockSegments(memory, at, shape);
        queues = new PopularityQueues(entries, map.queues());
        heapAt = at + shape.heap();
        marked = new EntryHeap(memory, heapAt, entries::leasedUntil);
        terms = new LeaseTerms(map.termNanos(), map.mostTermNanos(), map.queues());
        allBytes = (long) shape.segments() * ShardShape.SEGMENT_BYTES;
        counts = new ShardCounts(allBytes);
    }

    /** For tests: runs this at each point at which a call may stop. */
    void fail(Runnable atPoint) {
        fault = atPoint;
    }

    /** What the shard holds and has done. Any thread. */
    ShardTotals totals() {
        return counts.totals();
    }

    /** The memory that has the values of answers. */
    MemorySegment memory() {
        return memory;
    }

    /** A call begins: puts the shard in order if the one before has not ended. */
    private void begin() {
        now = nanoTime.getAsLong() - began;
        if (busy) {
            rebuild();
        }
        busy = true;
    }

    /** The thread ends while a value is copied: the next one puts the shard in order, which frees the blocks. */
    void interrupt() {
        busy = true;
    }

    /** Carries out a call that has its value, if any, with it. */
    void call(int operation, MemorySegment request, long from, long hash, ShardAnswer answer) {
        call(operation, request, from, hash, null, answer);
    }

    /**
     * Carries out a call.
     *
     * @param operation of {@link LeasedCalls}, that has a key
     * @param request holds a request from {@code from} on whose lengths have been checked
     * @param hash of the key
     * @param value the pieces of the value, all of which were {@linkplain #stage copied}; it is empty when this
     *     returns. Null if the value needs none
     * @param answer is filled
     */
    void call(
            int operation,
            MemorySegment request,
            long from,
            long hash,
            @Nullable ShardPieces value,
            ShardAnswer answer) {
        begin();
        staged = value;
        large = value != null && isLarge(LeasedCalls.valueBytes(request, from));
        areaSum = value == null ? 0 : LeasedCalls.areaSum(request, from, LeasedCalls.keyBytes(request, from));
        takeBack(TAKEN_BACK, ANY);
        int keyBytes = LeasedCalls.keyBytes(request, from);
        int entry = find(request, from + LeasedCalls.KEY, keyBytes, (int) hash);
        switch (operation) {
            case LeasedCalls.GET -> get(entry, answer);
            case LeasedCalls.RENEW -> renew(entry, LeasedCalls.argument(request, from), answer);
            case LeasedCalls.DELETE -> delete(entry, answer);
            case LeasedCalls.INCREMENT -> increment(entry, request, from, answer);
            case LeasedCalls.TOUCH -> touch(entry, request, from, answer);
            default -> store(operation, entry, request, from, (int) hash, answer);
        }
        if (value != null) {
            giveBack(value);
        }
        staged = null;
        end();
    }

    /**
     * Copies some pieces of a value into blocks, for a call that stores it when all are there. The client may write the
     * value at the same time: what counts is the checksum of the copies, when the call is carried out. If other objects
     * may have to go for it, its checksum is taken before that, too: a call that stores nothing evicts nothing.
     *
     * @param operation of the call
     * @param request of the call
     * @param hash of the key
     * @param value address of the value in this process
     * @param into receives the pieces; begins without any
     * @return a status: done; or why the call stores nothing, and then there are no pieces
     */
    int stage(int operation, MemorySegment request, long from, long hash, long value, ShardPieces into) {
        begin();
        int entry = find(request, from + LeasedCalls.KEY, LeasedCalls.keyBytes(request, from), (int) hash);
        int status = into.isBegun()
                ? into.order() == order ? KvStatus.DONE : LeasedCalls.TORN
                : beginPieces(operation, entry, request, from, into);
        int valueBytes = LeasedCalls.valueBytes(request, from);
        large = isLarge(valueBytes);
        if (status == KvStatus.DONE && !into.isChecked()) {
            status = check(value, valueBytes, request, from, into);
        } else if (status == KvStatus.DONE) {
            status = copyPieces(operation, entry, value, valueBytes, LeasedCalls.keyBytes(request, from), into);
        }
        if (status != KvStatus.DONE) {
            giveBack(into);
        }
        end();
        return status;
    }

    private boolean isLarge(int valueBytes) {
        return LeasedPieces.blockBytes(valueBytes) > allBytes / LARGE_SHARE;
    }

    /** Looks at the next parts of a value where its client has it. @return a status: whether the call is to continue */
    private int check(long value, int valueBytes, MemorySegment request, long from, ShardPieces of) {
        for (int i = 0; i < PIECES_OF_STEP && !of.isChecked(); i++) {
            int number = of.checked();
            of.check(LeasedPieces.sum(
                    NativeMemory.ALL,
                    value + LeasedPieces.startOf(number),
                    LeasedPieces.bytesOf(valueBytes, number),
                    of.checkedSum(),
                    checksum));
        }
        long asked = LeasedCalls.areaSum(request, from, LeasedCalls.keyBytes(request, from));
        return of.isChecked() && of.checkedSum() != asked ? LeasedCalls.TORN : KvStatus.DONE;
    }

    /** Frees the pieces of a value that is not stored. */
    void abandon(ShardPieces value) {
        begin();
        giveBack(value);
        end();
    }

    /** A call ends: marks that it has stored are found by READs that are posted from now on. */
    private void end() {
        counts.setUsedBytes(allBytes - (long) segments.empties() * ShardShape.SEGMENT_BYTES);
        VarHandle.fullFence();
        busy = false;
    }

    /** Takes the objects out of keys that belong to another shard from now on. */
    void dropAllBut(KeyHash hash, ServedRanges.KeptKeys kept) {
        begin();
        for (int entry = 1; entry <= entries.count; entry++) {
            if (entries.state(entry) == ShardEntries.OBJECT) {
                long block = block(entry);
                int keyBytes = LeasedBlock.keyBytes(memory, block);
                if (!kept.has(hash.of(memory, block + LeasedBlock.HEADER_BYTES, keyBytes))) {
                    evict(entry);
                }
            }
        }
        end();
    }

    /**
     * Accounts for all blocks: those of objects, those that are marked and leased or have values on their way, and free
     * ones.
     *
     * @param kept says which keys the shard has
     */
    BlockAudit audit(KeyHash hash, ServedRanges.KeptKeys kept) {
        begin();
        long wrong = 0;
        long objects = 0;
        long held = segments.reservations();
        for (int entry = 1; entry <= entries.count; entry++) {
            int state = entries.state(entry);
            objects += state == ShardEntries.OBJECT || state == ShardEntries.PIECE ? 1 : 0;
            held += state == ShardEntries.MARKED ? 1 : 0;
            wrong += state == ShardEntries.OBJECT && !isSound(entry, hash, kept)
                            || (state == ShardEntries.MARKED || state == ShardEntries.PIECE)
                                    && entryOf(entries.unit(entry)) != entry
                    ? 1
                    : 0;
        }
        long blocks = 0;
        long free = 0;
        for (int segment = 0; segment < segments.count(); segment++) {
            blocks += segments.cut(segment);
            free += segments.freeBlocks(segment);
        }
        end();
        return new BlockAudit(blocks, free, 0, held, objects, Math.max(0, blocks - free - held - objects), wrong);
    }

    /** Whether an object's block is live and its own, and its key is found. */
    private boolean isSound(int entry, KeyHash hash, ServedRanges.KeptKeys kept) {
        int unit = entries.unit(entry);
        if (!segments.hasBlock(unit) || entryOf(unit) != entry) {
            return false;
        }
        long block = block(entry);
        int keyBytes = LeasedBlock.keyBytes(memory, block);
        long key = hash.of(memory, block + LeasedBlock.HEADER_BYTES, keyBytes);
        int found = entries.first((int) key);
        for (int looks = 0; found != entry && found != ShardEntries.NONE && looks <= entries.count; looks++) {
            found = entries.next(found);
        }
        return found == entry
                && kept.has(key)
                && LeasedBlock.markAt(memory, block) == LeasedBlock.mark(entries.incarnation(entry), LeasedBlock.LIVE);
    }

    private int beginPieces(int operation, int entry, MemorySegment request, long from, ShardPieces into) {
        int status = condition(operation, entry, request, from);
        if (status != KvStatus.DONE) {
            return status;
        }
        int valueBytes = LeasedCalls.valueBytes(request, from);
        int count = LeasedPieces.count(valueBytes);
        long first = memory.get(JAVA_LONG, at) + 1;
        int needed = BlockSegments.needed(LeasedCalls.keyBytes(request, from), valueBytes);
        if (count >= entries.count || needed > segments.count() || first + count > LeasedBlock.LAST_INCARNATION) {
            // So nothing is evicted for a value that the shard could not have if it were empty.
            return KvStatus.NO_ROOM;
        }
        memory.set(JAVA_LONG, at, first + count - 1);
        into.begin(count, first, order);
        if (segments.empties() < needed) {
            into.checkFirst();
        }
        return KvStatus.DONE;
    }

    /** How many segments a value lacks at least if the key's present object stays until it is there; may be below 0. */
    private int lacks(int entry, int keyBytes, int valueBytes) {
        int there = 0;
        if (entry != ShardEntries.NONE) {
            int itsBytes = LeasedBlock.valueBytes(memory, block(entry));
            there = entries.isInPieces(entry) ? BlockSegments.needed(keyBytes, itsBytes) : 1;
            if (LeasedPieces.count(valueBytes) + pieces(entry) + 2 > entries.count) {
                return SHARED_SEGMENTS + 1;
            }
        }
        return BlockSegments.needed(keyBytes, valueBytes) + there - segments.count();
    }

    /** Whether the key's present object can go before its new one is there: a get meanwhile finds none. */
    private boolean mayGo(int operation, int entry) {
        return operation == LeasedCalls.SET && entry != ShardEntries.NONE && entries.leasedUntil(entry) <= now;
    }

    /** @param present the key's object, which stays if there is room for both, or it is leased */
    private int copyPieces(int operation, int present, long value, int valueBytes, int keyBytes, ShardPieces into) {
        int keep = present;
        int lacks = lacks(keep, keyBytes, valueBytes);
        if (lacks > 0 && mayGo(operation, keep)) {
            evict(keep);
            keep = ShardEntries.NONE;
        } else if (lacks > SHARED_SEGMENTS) {
            return KvStatus.NO_ROOM;
        }
        keepSegments(keep);
        for (int i = 0; i < PIECES_OF_STEP && !into.isWhole(); i++) {
            int number = into.count();
            int piece = takeEntry(keep);
            int unit = piece == ShardEntries.NONE
                    ? BlockSegments.NO_BLOCK
                    : takeBlock(LeasedPieces.sizeClass(valueBytes, number), keep);
            if (unit == BlockSegments.NO_BLOCK) {
                if (piece != ShardEntries.NONE) {
                    entries.give(piece);
                }
                if (!mayGo(operation, keep)) {
                    return KvStatus.NO_ROOM;
                }
                evict(keep);
                keep = ShardEntries.NONE;
                keepSegments(keep);
                continue;
            }
            long incarnation = into.firstIncarnation() + number;
            segments.reserve(unit);
            entries.setUnit(piece, unit);
            entries.setIncarnation(piece, incarnation);
            entries.setLeasedUntil(piece, 0);
            fault.run();
            into.add(piece, copyPiece(piece, incarnation, number, value, valueBytes, into.sum()));
        }
        return KvStatus.DONE;
    }

    /** @return the checksum of the copies so far, with this one */
    private long copyPiece(int piece, long incarnation, int number, long value, int valueBytes, long before) {
        long block = block(piece);
        int bytes = LeasedPieces.bytesOf(valueBytes, number);
        LeasedBlock.setMark(memory, block, LeasedBlock.mark(incarnation, LeasedBlock.UNBORN));
        LeasedBlock.setLink(memory, block, piece);
        MemorySegment.copy(
                NativeMemory.ALL,
                value + LeasedPieces.startOf(number),
                memory,
                block + LeasedBlock.HEADER_BYTES,
                bytes);
        LeasedBlock.writePiece(memory, block, incarnation, bytes, checksum);
        LeasedBlock.setMark(memory, block, LeasedBlock.mark(incarnation, LeasedBlock.LIVE));
        return LeasedPieces.sum(memory, block + LeasedBlock.HEADER_BYTES, bytes, before, checksum);
    }

    /** Frees the blocks of pieces that belong to no object, unless that has happened as the shard was put in order. */
    private void giveBack(ShardPieces value) {
        for (int number = 0; value.order() == order && number < value.count(); number++) {
            int piece = value.entry(number);
            mark(piece);
            segments.endReservation(entries.unit(piece));
            free(piece);
        }
        value.clear();
    }

    /** Says how many of the READs that a client reports count. */
    interface ReadBudget {
        long take(long reads);
    }

    /**
     * Counts READs of blocks that clients have made.
     *
     * @param report whose lengths have been checked
     * @param written whether it came by WRITE
     */
    void report(MemorySegment report, long from, boolean written, ReadBudget budget) {
        begin();
        counts.add(ShardCounts.REPORTS, 1);
        counts.add(ShardCounts.WRITTEN, written ? 1 : 0);
        for (int i = 0; i < LeasedCalls.reported(report, from); i++) {
            int unit = LeasedCalls.reportedUnit(report, from, i);
            long reads = Integer.toUnsignedLong(LeasedCalls.reportedReads(report, from, i));
            int entry = segments.hasBlock(unit) ? entryOf(unit) : ShardEntries.NONE;
            if (entry == ShardEntries.NONE
                    || entries.state(entry) != ShardEntries.OBJECT
                    || entries.incarnation(entry) != LeasedCalls.reportedIncarnation(report, from, i)) {
                continue;
            }
            long counted = budget.take(reads);
            counts.add(ShardCounts.REPORTED, counted);
            counts.add(ShardCounts.CAPPED, reads - counted);
            if (counted > 0) {
                entries.setRead(entry, true);
                use(entry, counted);
            }
        }
        busy = false;
    }

    private long offset(int unit) {
        return at + (long) unit * LeasedBlock.UNIT_BYTES;
    }

    private long block(int entry) {
        return offset(entries.unit(entry));
    }

    private long millis() {
        return now / NANOS_PER_MILLI + 1;
    }

    /** @return the entry of the key's object, or {@link ShardEntries#NONE} */
    private int find(MemorySegment key, long from, int keyBytes, int hash) {
        chain = 0;
        for (int entry = entries.first(hash); entry != ShardEntries.NONE; entry = entries.next(entry)) {
            chain++;
            if (entries.hash(entry) == hash && LeasedBlock.hasKey(memory, block(entry), key, from, keyBytes)) {
                long expiry = entries.expiry(entry);
                if (expiry == 0 || expiry > millis()) {
                    return entry;
                }
                remove(entry);
                return ShardEntries.NONE;
            }
        }
        return ShardEntries.NONE;
    }

    private void get(int entry, ShardAnswer answer) {
        if (entry == ShardEntries.NONE) {
            answer.clear(KvStatus.ABSENT);
            return;
        }
        use(entry);
        entries.setRead(entry, true);
        found(entry, answer);
        answer.termNanos = lease(entry);
        hold(entry);
    }

    private void renew(int entry, long incarnation, ShardAnswer answer) {
        if (entry == ShardEntries.NONE) {
            answer.clear(KvStatus.ABSENT);
            return;
        }
        use(entry);
        if (entries.incarnation(entry) != incarnation) {
            answer.clear(KvStatus.CHANGED);
            return;
        }
        entries.setRead(entry, true);
        found(entry, answer);
        answer.termNanos = lease(entry);
        hold(entry);
        counts.add(ShardCounts.RENEWED, answer.termNanos > 0 ? 1 : 0);
    }

    private void delete(int entry, ShardAnswer answer) {
        answer.clear(entry == ShardEntries.NONE ? KvStatus.ABSENT : KvStatus.DONE);
        if (entry != ShardEntries.NONE) {
            remove(entry);
        }
    }

    private void store(int operation, int entry, MemorySegment request, long from, int hash, ShardAnswer answer) {
        boolean there = entry != ShardEntries.NONE;
        int condition = condition(operation, entry, request, from);
        if (condition != KvStatus.DONE) {
            if (condition == KvStatus.EXISTS) {
                use(entry);
            }
            answer.clear(condition);
            return;
        }
        int keyBytes = LeasedCalls.keyBytes(request, from);
        long life = LeasedCalls.lifeMillis(request, from);
        boolean isRead = there && entries.isRead(entry);
        int stored = put(
                entry,
                0,
                request,
                from + LeasedCalls.KEY,
                keyBytes,
                hash,
                request,
                from + LeasedCalls.valueAt(keyBytes),
                LeasedCalls.valueBytes(request, from),
                life == 0 ? 0 : millis() + life,
                answer);
        if (isRead && stored != ShardEntries.NONE) {
            // A key that is set again and again and not read needs no lease, which would keep each of its blocks.
            answer.termNanos = lease(stored);
        }
    }

    /** Whether a call may store, as the key is now: done, or the status with which it ends. */
    private int condition(int operation, int entry, MemorySegment request, long from) {
        boolean there = entry != ShardEntries.NONE;
        return switch (operation) {
            case LeasedCalls.ADD -> there ? KvStatus.EXISTS : KvStatus.DONE;
            case LeasedCalls.REPLACE -> there ? KvStatus.DONE : KvStatus.ABSENT;
            case LeasedCalls.COMPARE_AND_SET -> {
                if (!there) {
                    yield KvStatus.ABSENT;
                }
                boolean same = LeasedBlock.version(memory, block(entry)) == LeasedCalls.argument(request, from);
                yield same ? KvStatus.DONE : KvStatus.CHANGED;
            }
            default -> KvStatus.DONE;
        };
    }

    private void increment(int entry, MemorySegment request, long from, ShardAnswer answer) {
        if (entry == ShardEntries.NONE) {
            answer.clear(KvStatus.ABSENT);
            return;
        }
        long block = block(entry);
        if (LeasedBlock.valueBytes(memory, block) != Long.BYTES) {
            answer.clear(KvStatus.NOT_A_NUMBER);
            return;
        }
        int keyBytes = LeasedCalls.keyBytes(request, from);
        long before = memory.get(JAVA_LONG, block + LeasedBlock.valueAt(keyBytes));
        sum.set(JAVA_LONG_UNALIGNED, 0, before + LeasedCalls.argument(request, from));
        put(
                entry,
                0,
                request,
                from + LeasedCalls.KEY,
                keyBytes,
                entries.hash(entry),
                sum,
                0,
                Long.BYTES,
                entries.expiry(entry),
                answer);
    }

    /**
     * Gives an object another time to live. Leases that were given end before the object's time; so if the new time is
     * not later than a lease, the object gets another block.
     */
    private void touch(int entry, MemorySegment request, long from, ShardAnswer answer) {
        if (entry == ShardEntries.NONE) {
            answer.clear(KvStatus.ABSENT);
            return;
        }
        long life = LeasedCalls.lifeMillis(request, from);
        long expiry = life == 0 ? 0 : millis() + life;
        if (expiry == 0 || entries.leasedUntil(entry) <= now || endsBefore(entries.leasedUntil(entry), expiry)) {
            use(entry);
            entries.setExpiry(entry, expiry);
            answer.clear(KvStatus.DONE);
            return;
        }
        long block = block(entry);
        int keyBytes = LeasedBlock.keyBytes(memory, block);
        put(
                entry,
                LeasedBlock.version(memory, block),
                request,
                from + LeasedCalls.KEY,
                keyBytes,
                entries.hash(entry),
                memory,
                block + LeasedBlock.valueAt(keyBytes),
                LeasedBlock.valueBytes(memory, block),
                expiry,
                answer);
        answer.version = 0;
    }

    private static boolean endsBefore(long nanos, long expiryMillis) {
        return nanos / NANOS_PER_MILLI + 1 < expiryMillis;
    }

    /**
     * Stores an object in a new block, in place of the one that the entry names, if any.
     *
     * @param version 0: a new one; else the value is the object's own
     * @param value holds the value, unless that needs pieces: then these are the call's, or the object's own
     * @param expiryMillis 0: never
     * @return the object's entry, or {@link ShardEntries#NONE} if there is no room, or the value is torn
     */
    private int put(
            int entry,
            long version,
            MemorySegment key,
            long keyFrom,
            int keyBytes,
            int hash,
            MemorySegment value,
            long valueFrom,
            int valueBytes,
            long expiryMillis,
            ShardAnswer answer) {
        boolean inPieces = LeasedPieces.needed(keyBytes, valueBytes);
        boolean newPieces = inPieces && version == 0;
        keepSegments(entry);
        ShardPieces pieces = newPieces ? staged : own;
        if (pieces == null || newPieces && !isOfCall(pieces)) {
            answer.clear(LeasedCalls.TORN);
            return ShardEntries.NONE;
        }
        own.clear();
        if (inPieces && !newPieces) {
            piecesOf(entry);
        }
        int ofSize = SizeClasses.of(LeasedBlock.units(keyBytes, valueBytes));
        long incarnation = memory.get(JAVA_LONG, at) + 1;
        int fresh = incarnation > LeasedBlock.LAST_INCARNATION ? ShardEntries.NONE : takeEntry(entry);
        int unit = fresh == ShardEntries.NONE ? BlockSegments.NO_BLOCK : takeBlock(ofSize, entry);
        if (unit == BlockSegments.NO_BLOCK) {
            if (fresh != ShardEntries.NONE) {
                entries.give(fresh);
            }
            answer.clear(KvStatus.NO_ROOM);
            return ShardEntries.NONE;
        }
        memory.set(JAVA_LONG, at, incarnation);
        long block = offset(unit);
        fault.run();
        LeasedBlock.setMark(memory, block, LeasedBlock.mark(incarnation, LeasedBlock.UNBORN));
        LeasedBlock.setLink(memory, block, fresh);
        long stored = version == 0 ? (long) number << NUMBER_SHIFT | incarnation : version;
        if (inPieces) {
            list(pieces, block + LeasedBlock.valueAt(keyBytes));
            LeasedBlock.writeHead(memory, block, incarnation, stored, key, keyFrom, keyBytes, valueBytes, checksum);
        } else {
            LeasedBlock.write(
                    memory, block, incarnation, stored, key, keyFrom, keyBytes, value, valueFrom, valueBytes, checksum);
        }
        fault.run();
        entries.setHash(fresh, hash);
        entries.setUnit(fresh, unit);
        entries.setIncarnation(fresh, incarnation);
        // Pieces that the object had before may be leased.
        long leased = inPieces && !newPieces && entries.leasedUntil(entry) > now ? entries.leasedUntil(entry) : 0;
        entries.setLeasedUntil(fresh, leased);
        segments.leased(unit, leased);
        entries.setExpiry(fresh, expiryMillis);
        entries.setCount(fresh, entry == ShardEntries.NONE ? 1 : entries.count(entry) + 1L);
        entries.setUsedAt(fresh, ticks());
        int queued = inPieces ? LeasedPieces.sizeClass(valueBytes, 0) : ofSize;
        entries.setSizeClass(fresh, queued);
        entries.setInPieces(fresh, inPieces);
        entries.setRead(fresh, false);
        entries.setStoredAt(fresh, (int) millis());
        entries.setReplacedAfter(fresh, entry == ShardEntries.NONE ? 0 : replacedAfter(entry));
        give(pieces, fresh, newPieces);
        fault.run();
        entries.setState(fresh, ShardEntries.OBJECT);
        fault.run();
        if (entry != ShardEntries.NONE) {
            mark(entry);
            fault.run();
        }
        LeasedBlock.setMark(memory, block, LeasedBlock.mark(incarnation, LeasedBlock.LIVE));
        fault.run();
        if (entry != ShardEntries.NONE) {
            forget(entry);
            fault.run();
        }
        entries.link(fresh);
        queues.add(fresh);
        count(fresh, 1);
        int last = entry == ShardEntries.NONE && chain >= MOST_CHAIN ? entries.lastOf(hash) : fresh;
        if (last != fresh) {
            evict(last);
        }
        demote(queued);
        found(fresh, answer);
        return fresh;
    }

    /** While this call makes room, no segment is emptied in which the object of an entry lies. */
    private void keepSegments(int entry) {
        segments.keepNone();
        if (entry == ShardEntries.NONE) {
            return;
        }
        segments.keep(entries.unit(entry));
        for (int number = pieces(entry) - 1; number >= 0; number--) {
            segments.keep(pieceUnit(entry, number));
        }
    }

    /** How many pieces an object has. */
    private int pieces(int entry) {
        return entries.isInPieces(entry) ? LeasedPieces.count(LeasedBlock.valueBytes(memory, block(entry))) : 0;
    }

    /** The offset of the list of an object's pieces. */
    private long list(int entry) {
        long block = block(entry);
        return block + LeasedBlock.valueAt(LeasedBlock.keyBytes(memory, block));
    }

    private int pieceUnit(int entry, int number) {
        return LeasedPieces.unit(memory, list(entry), number);
    }

    /** Whether pieces are those of the call's value, whole and as its client says. */
    private boolean isOfCall(ShardPieces value) {
        return value.isWhole() && value.order() == order && value.sum() == areaSum;
    }

    /** Writes the list of pieces. @param list its offset in the memory */
    private void list(ShardPieces pieces, long list) {
        LeasedPieces.setFirstIncarnation(memory, list, pieces.firstIncarnation());
        for (int number = 0; number < pieces.count(); number++) {
            LeasedPieces.setUnit(memory, list, number, entries.unit(pieces.entry(number)));
        }
    }

    /** Pieces belong to an object from now on. @param reserved whether they belonged to none */
    private void give(ShardPieces pieces, int object, boolean reserved) {
        for (int number = 0; number < pieces.count(); number++) {
            int piece = pieces.entry(number);
            entries.setOwner(piece, object);
            entries.setState(piece, ShardEntries.PIECE);
            if (reserved) {
                segments.endReservation(entries.unit(piece));
            }
        }
        pieces.clear();
    }

    /** The pieces of an object are those of the call, too. */
    private void piecesOf(int entry) {
        long list = list(entry);
        int count = pieces(entry);
        own.begin(count, LeasedPieces.firstIncarnation(memory, list), order);
        for (int number = 0; number < count; number++) {
            own.add(entryOf(LeasedPieces.unit(memory, list, number)), 0);
        }
    }

    /** Pieces of an object that was marked wait for its lease, or are free, unless another object has them now. */
    private void forgetPieces(int entry) {
        int count = pieces(entry);
        for (int number = 0; number < count; number++) {
            int piece = entryOf(pieceUnit(entry, number));
            if (piece != ShardEntries.NONE
                    && entries.state(piece) == ShardEntries.PIECE
                    && entries.owner(piece) == entry) {
                mark(piece);
                entries.setLeasedUntil(piece, entries.leasedUntil(entry));
                fault.run();
                retire(piece);
            }
        }
    }

    /** How long an object has been there, in ms. */
    private long age(int entry) {
        return Integer.toUnsignedLong((int) millis() - entries.storedAt(entry));
    }

    /** For how long a key's objects live, if one is replaced now: half of it is what the last one has lived. */
    private long replacedAfter(int entry) {
        long before = entries.replacedAfter(entry);
        return Math.max(1, before == 0 ? age(entry) : (before + age(entry)) / 2);
    }

    /** From here on the block's object is no key's. */
    private void mark(int entry) {
        LeasedBlock.setMark(memory, block(entry), LeasedBlock.mark(entries.incarnation(entry), LeasedBlock.DEAD));
    }

    /** Takes an object out of the map. */
    private void remove(int entry) {
        mark(entry);
        fault.run();
        forget(entry);
    }

    /** The table and the queues forget a marked object; its block waits for its lease, or is free. */
    private void forget(int entry) {
        countOver(entry);
        entries.unlink(entry);
        queues.remove(entry);
        count(entry, -1);
        fault.run();
        forgetPieces(entry);
        retire(entry);
    }

    /** The block of a marked entry waits for its lease, or is free. */
    private void retire(int entry) {
        if (entries.leasedUntil(entry) > now) {
            entries.setState(entry, ShardEntries.MARKED);
            marked.add(entry);
            counts.add(ShardCounts.MARKED_BYTES, bytes(entry));
        } else {
            free(entry);
        }
    }

    private void free(int entry) {
        int unit = entries.unit(entry);
        entries.give(entry);
        fault.run();
        segments.give(unit);
    }

    /** The bytes of an entry's own block. */
    private long bytes(int entry) {
        return segments.blockBytes(entries.unit(entry));
    }

    private void count(int entry, int many) {
        long ofPieces =
                entries.isInPieces(entry) ? LeasedPieces.blockBytes(LeasedBlock.valueBytes(memory, block(entry))) : 0;
        counts.add(ShardCounts.OBJECTS, many);
        counts.add(ShardCounts.OBJECT_BYTES, many * (bytes(entry) + ofPieces));
    }

    /**
     * Takes marked blocks back whose leases are over, until a class has a block. @param ofSize {@link #ANY}: of none
     */
    private void takeBack(int most, int ofSize) {
        for (int i = 0; i < most && (ofSize == ANY || !segments.has(ofSize)); i++) {
            int over = marked.take(now);
            if (over == ShardEntries.NONE) {
                return;
            }
            fault.run();
            counts.add(ShardCounts.MARKED_BYTES, -bytes(over));
            counts.add(ShardCounts.RECLAIMED_LATE, 1);
            free(over);
        }
    }

    private void use(int entry) {
        use(entry, 1);
    }

    private void use(int entry, long times) {
        queues.remove(entry);
        fault.run();
        entries.setCount(entry, entries.count(entry) + times);
        entries.setUsedAt(entry, ticks());
        queues.add(entry);
        demote(entries.sizeClass(entry));
    }

    /** The time, in units of {@link #NANOS_PER_USE}, of which an entry has 32 bits. */
    private int ticks() {
        return (int) (now / NANOS_PER_USE);
    }

    /** For how long an object stays in a queue without a use, as {@link #ticks}. */
    private long stay(int queue) {
        return terms.stay(queue) / NANOS_PER_USE + 1;
    }

    /**
     * How popular an object is now, so that objects compare although no call has moved them: the lower, the colder. The
     * upper bits have the queue to which it sinks if it goes one down for each time that it has stayed in one without a
     * use; the lower 32 {@link #MOST_UNUSED} less the rest of that time, as {@link #ticks}.
     */
    private long rank(int entry) {
        int queue = entries.queue(entry);
        long unused = Integer.toUnsignedLong(ticks() - entries.usedAt(entry));
        for (; queue > 0 && unused >= stay(queue); queue--) {
            unused -= stay(queue);
        }
        return (long) queue << QUEUE_SHIFT | MOST_UNUSED - unused;
    }

    /** Moves heads of queues down to where they have sunk, if their leases are over. */
    private void demote(int ofSize) {
        int left = DEMOTED;
        int filled = queues.filled(ofSize) & ~1;
        while (filled != 0 && left > 0) {
            int queue = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(filled);
            filled &= ~(1 << queue);
            int head = queues.head(ofSize, queue);
            long rank = rank(head);
            int lower = (int) (rank >>> QUEUE_SHIFT);
            if (lower < queue && entries.leasedUntil(head) <= now) {
                queues.remove(head);
                fault.run();
                entries.setCount(head, Math.min(entries.count(head) >> queue - lower, (1 << lower + 1) - 1));
                // From here on it has a use's time in the lower queue, less what it has been there.
                entries.setUsedAt(head, ticks() - (int) (MOST_UNUSED - (rank & MOST_UNUSED)));
                queues.add(head);
                left--;
            }
        }
    }

    private void found(int entry, ShardAnswer answer) {
        long block = block(entry);
        answer.clear(KvStatus.DONE);
        answer.version = LeasedBlock.version(memory, block);
        answer.unit = entries.unit(entry);
        answer.incarnation = entries.incarnation(entry);
        answer.valueBytes = LeasedBlock.valueBytes(memory, block);
        answer.valueAt = block + LeasedBlock.valueAt(LeasedBlock.keyBytes(memory, block));
        answer.inPieces = entries.isInPieces(entry);
    }

    /**
     * Leases an object's block, until before the end of its time to live. A block that is replaced before its lease is
     * over serves no object until then, so none is leased for much longer than its key's blocks live, or it has lived.
     *
     * @return the term; 0: none
     */
    private long lease(int entry) {
        int queue = entries.queue(entry);
        long full = terms.of(queue);
        long expiry = entries.expiry(entry);
        if (expiry != 0) {
            full = Math.min(full, (expiry - millis() - 1) * NANOS_PER_MILLI);
        }
        if (entries.replacedAfter(entry) != 0) {
            long life = Math.max(entries.replacedAfter(entry), age(entry));
            full = Math.min(full, TERMS_OF_LIFE * life * NANOS_PER_MILLI);
        }
        if (full <= 0) {
            return 0;
        }
        long term = Math.min(
                full,
                Math.min(
                        terms.of(queue, now, counts.of(ShardCounts.MARKED_BYTES), allBytes),
                        terms.of(queue, now, marked.size(), entries.count)));
        if (term <= 0) {
            counts.add(ShardCounts.DENIED, 1);
            return 0;
        }
        countOver(entry);
        keepFor(entry, term);
        counts.add(ShardCounts.LEASES, 1);
        return term;
    }

    /**
     * Counts the lease that an object has had, if it has ended; one that is held when its block is marked does later.
     */
    private void countOver(int entry) {
        long until = entries.leasedUntil(entry);
        counts.add(ShardCounts.OVER, until != 0 && until <= now ? 1 : 0);
    }

    /** The blocks of an object keep their bytes for a time from now on. */
    private void keepFor(int entry, long nanos) {
        long until = Math.max(entries.leasedUntil(entry), now + LeaseClock.ofServer(nanos));
        entries.setLeasedUntil(entry, until);
        segments.leased(entries.unit(entry), until);
        for (int number = pieces(entry) - 1; number >= 0; number--) {
            segments.leased(pieceUnit(entry, number), until);
        }
    }

    /**
     * No answer has a value in pieces, so its client READs them next, with a lease or without. Without one, or with one
     * that is shorter than that takes, it would find other objects there again and again beside sets of that key.
     */
    private void hold(int entry) {
        if (entries.isInPieces(entry)
                && entries.leasedUntil(entry) < now + HOLD_NANOS
                && terms.mayHold(counts.of(ShardCounts.MARKED_BYTES), allBytes)) {
            keepFor(entry, HOLD_NANOS);
        }
    }

    /** An entry that is not in use, or {@link ShardEntries#NONE}. @param keep is not evicted */
    private int takeEntry(int keep) {
        if (!entries.hasFree()) {
            takeBack(1, ANY);
        }
        if (!entries.hasFree()) {
            int victim = coldest(ANY, keep, LOOKS, Segments.ANY);
            if (victim == ShardEntries.NONE) {
                exhausted();
                return ShardEntries.NONE;
            }
            evict(victim);
        }
        return entries.take();
    }

    /** All that could be evicted is leased, unless it is a large value that finds no room. */
    private void exhausted() {
        if (!large) {
            terms.exhausted(now);
        }
    }

    /** A free block, or {@link BlockSegments#NO_BLOCK}. @param keep is not evicted */
    private int takeBlock(int ofSize, int keep) {
        takeBack(TAKEN_BACK_FOR_ROOM, ofSize);
        if (!segments.has(ofSize)) {
            makeRoom(ofSize, keep);
        }
        if (!segments.has(ofSize)) {
            exhausted();
            return BlockSegments.NO_BLOCK;
        }
        return segments.take(ofSize);
    }

    /**
     * Evicts an object of a size class, or all of a segment of another class: at once one of which no block is leased,
     * and else one at a time, which serves any class when its leases are over.
     */
    private void makeRoom(int ofSize, int keep) {
        int own = victim(ofSize, keep, LOOKS, Segments.ANY);
        if (own == ShardEntries.NONE || ++evictions % BALANCE == 0) {
            emptyOther(ofSize, keep, own, Segments.NOT_LEASED);
            if (own == ShardEntries.NONE && !segments.has(ofSize)) {
                // Both take long if there are many, but else the call finds no room.
                int free = segments.notLeased(now);
                if (free != BlockSegments.NONE) {
                    empty(free);
                }
                takeBack(Integer.MAX_VALUE, ofSize);
            }
            if (!segments.has(ofSize) && segments.closings() == 0) {
                emptyOther(ofSize, keep, own, Segments.NOT_OF_KEPT);
            }
        }
        if (own != ShardEntries.NONE && !segments.has(ofSize)) {
            evict(own);
        }
    }

    private void emptyOther(int ofSize, int keep, int own, Segments which) {
        int other = coldest(ofSize, keep, OTHER_LOOKS, which);
        if (other != ShardEntries.NONE && (own == ShardEntries.NONE || rank(other) < rank(own))) {
            empty(segments.of(queuedUnit(other)));
        }
    }

    /** A block of the class by which an object is queued: its own, or that of its first piece. */
    private int queuedUnit(int entry) {
        return entries.isInPieces(entry) ? pieceUnit(entry, 0) : entries.unit(entry);
    }

    /** Which objects may be victims. */
    private enum Segments {
        ANY,
        /** Those in other segments than the object to keep, and the blocks that the call has taken. */
        NOT_OF_KEPT,
        /** Of these, the ones in segments of which no block is leased. */
        NOT_LEASED
    }

    /**
     * The first object of a class, from the head of its lowest queue on, that is not leased.
     *
     * @param looks at how many it looks, beside those in segments that are kept
     */
    private int victim(int ofSize, int keep, int looks, Segments which) {
        int left = looks;
        for (int filled = queues.filled(ofSize); filled != 0; filled &= filled - 1) {
            int entry = queues.head(ofSize, Integer.numberOfTrailingZeros(filled));
            for (; entry != ShardEntries.NONE; entry = entries.after(entry)) {
                int unit = queuedUnit(entry);
                if (which != Segments.ANY && segments.isKept(unit)) {
                    continue;
                }
                if (left-- == 0) {
                    return ShardEntries.NONE;
                }
                if (entry != keep
                        && entries.leasedUntil(entry) <= now
                        && (which != Segments.NOT_LEASED || !segments.isLeased(unit, now))) {
                    return entry;
                }
            }
        }
        return ShardEntries.NONE;
    }

    /** The coldest victim of all classes but one. */
    private int coldest(int but, int keep, int looks, Segments which) {
        int coldest = ShardEntries.NONE;
        for (int ofSize = 0; ofSize < SizeClasses.COUNT; ofSize++) {
            int one = ofSize == but ? ShardEntries.NONE : victim(ofSize, keep, looks, which);
            if (one != ShardEntries.NONE && (coldest == ShardEntries.NONE || rank(one) < rank(coldest))) {
                coldest = one;
            }
        }
        return coldest;
    }

    private void evict(int entry) {
        counts.add(ShardCounts.EVICTED, 1);
        remove(entry);
    }

    /** Evicts all objects of a segment, which then serves any class when no block of it is leased. */
    private void empty(int segment) {
        segments.close(segment);
        // The segment is of no class, and has no blocks, as soon as the last one is free.
        for (int block = 0; block < segments.cut(segment); block++) {
            int named = entryOf(segments.unit(segment, block));
            if (named != ShardEntries.NONE && entries.state(named) == ShardEntries.PIECE) {
                named = entries.owner(named);
            }
            if (named != ShardEntries.NONE && entries.state(named) == ShardEntries.OBJECT) {
                evict(named);
            }
        }
    }

    /** The entry that a block belongs to, or {@link ShardEntries#NONE} if it is free. */
    private int entryOf(int unit) {
        long link = LeasedBlock.link(memory, offset(unit));
        return link > ShardEntries.NONE
                        && link <= entries.count
                        && entries.state((int) link) != ShardEntries.FREE
                        && entries.unit((int) link) == unit
                ? (int) link
                : ShardEntries.NONE;
    }

    /** Makes all lists again that follow from entries and blocks, after a call that has not ended. */
    private void rebuild() {
        order++;
        findPieces();
        for (int entry = 1; entry <= entries.count; entry++) {
            entries.setState(entry, settled(entry));
        }
        entries.freeAll();
        queues.clear();
        marked.clear();
        segments.freeAll();
        counts.set(ShardCounts.OBJECTS, 0);
        counts.set(ShardCounts.OBJECT_BYTES, 0);
        counts.set(ShardCounts.MARKED_BYTES, 0);
        relink();
        for (int entry = 1; entry <= entries.count; entry++) {
            if (entries.state(entry) == ShardEntries.PIECE) {
                segments.retake(entries.unit(entry), entries.leasedUntil(entry));
            } else if (entries.state(entry) == ShardEntries.MARKED) {
                segments.retake(entries.unit(entry), entries.leasedUntil(entry));
                marked.add(entry);
                counts.add(ShardCounts.MARKED_BYTES, bytes(entry));
            }
        }
        segments.listAll(unit -> entryOf(unit) != ShardEntries.NONE);
        counts.add(ShardCounts.REBUILT, 1);
    }

    /** Finds the pieces of all objects that are there, and until when others are leased. */
    private void findPieces() {
        for (int entry = 1; entry <= entries.count; entry++) {
            if (entries.state(entry) == ShardEntries.FOUND_PIECE) {
                entries.setState(entry, ShardEntries.PIECE);
            }
        }
        for (int entry = 1; entry <= entries.count; entry++) {
            if (entries.state(entry) == ShardEntries.OBJECT && entries.isInPieces(entry)) {
                findPieces(entry, isLive(entry));
            }
        }
    }

    private void findPieces(int entry, boolean live) {
        long list = list(entry);
        long first = LeasedPieces.firstIncarnation(memory, list);
        int count = pieces(entry);
        for (int number = 0; number < count; number++) {
            int piece = entryOf(LeasedPieces.unit(memory, list, number));
            boolean same = piece != ShardEntries.NONE
                    && entries.state(piece) >= ShardEntries.PIECE
                    && entries.incarnation(piece) == first + number;
            if (same) {
                entries.setLeasedUntil(piece, Math.max(entries.leasedUntil(piece), entries.leasedUntil(entry)));
            }
            if (same && live) {
                entries.setOwner(piece, entry);
                entries.setState(piece, ShardEntries.FOUND_PIECE);
            }
        }
    }

    private boolean isLive(int entry) {
        return LeasedBlock.markAt(memory, block(entry))
                == LeasedBlock.mark(entries.incarnation(entry), LeasedBlock.LIVE);
    }

    /** Puts all objects into the table and the queues, the least recent first; while none is marked. */
    private void relink() {
        int ticks = ticks();
        EntryHeap byUse =
                new EntryHeap(memory, heapAt, entry -> -Integer.toUnsignedLong(ticks - entries.usedAt(entry)));
        for (int entry = 1; entry <= entries.count; entry++) {
            if (entries.state(entry) == ShardEntries.OBJECT) {
                byUse.add(entry);
            }
        }
        for (int entry = byUse.take(0); entry != ShardEntries.NONE; entry = byUse.take(0)) {
            segments.retake(entries.unit(entry), entries.leasedUntil(entry));
            entries.link(entry);
            queues.add(entry);
            count(entry, 1);
        }
    }

    /** The state of an entry, as its block has it. */
    private int settled(int entry) {
        int state = entries.state(entry);
        if (state == ShardEntries.OBJECT && isLive(entry)) {
            return ShardEntries.OBJECT;
        }
        if (state == ShardEntries.FOUND_PIECE) {
            return ShardEntries.PIECE;
        }
        return state != ShardEntries.FREE && entries.leasedUntil(entry) > now ? ShardEntries.MARKED : ShardEntries.FREE;
    }
}
