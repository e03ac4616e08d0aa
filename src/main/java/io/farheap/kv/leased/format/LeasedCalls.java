package io.farheap.kv.leased.format;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SlotWord;
import java.lang.foreign.MemorySegment;

/**
 * The calls by which clients of a leased map ask its servers, and their answers. Little-endian.
 *
 * <pre>
 * request                                            answer
 *  0  u64  space                                      0  u32  status
 *  8  u16  bytes of the key                           4  u32  bytes of the value
 * 10  u16  form: 0, or 1                              8  u64  version
 * 12  u32  bytes of the value                        16  u64  place of the block: shard (bits 32..), unit in it
 * 16  u64  argument                                  24  u64  incarnation of the block; 0: there is none
 * 24  u64  time to live in ms; 0: for ever           32  u64  term of the lease in ns; 0: none
 * 32  u64  session                                   40  u32  bytes of the value that follow: all or none
 * 40  u64  call                                      48       the value
 * 48       the key, padded to 8 bytes
 *          form 0: the value
 *          form 1: u32  number of a region of the server that the caller holds
 *                  u32  0
 *                  u64  offset of the value in it
 *                  u64  checksum of the value: {@link LeasedPieces#sumOfAll}
 * </pre>
 *
 * <p>A value that needs {@linkplain LeasedPieces pieces} comes in form 1, and no other does: the caller has WRITTEN it
 * into memory of its own before. If the server's copy of it has another checksum, nothing is stored, and the answer is
 * {@link #TORN}. No answer has such a value: the caller READs it by the pointer, whose block is kept for a while.
 *
 * <p>A call that changes something names its session, by a number of the process (bits 0 to 9) below one that is higher
 * for a later session of that number; and itself, by one of the session's places (bits 48 to 63) and how many calls the
 * place has had. If the connection fails, the client sends the call again: the server has kept the answer of each
 * place's last call, and carries a call out once. Of a call that has begun and not ended it says LOST. Other calls have
 * 0.
 *
 * <p>An answer to a {@link #GET} has the value if there is room for it. The status is one of
 * {@link io.farheap.kv.contract.KvStatus}, or one of those below.
 */
public final class LeasedCalls {

    private static final int FIRST_CALL = 3776;

    /** The value of a key, and a lease of its block. */
    public static final int GET = FIRST_CALL;
    /** Stores an object. */
    public static final int SET = FIRST_CALL + 1;
    /** Takes an object out of the map. */
    public static final int DELETE = FIRST_CALL + 2;
    /** Stores an object whose key must be absent. */
    public static final int ADD = FIRST_CALL + 3;
    /** Stores an object whose key must be present. */
    public static final int REPLACE = FIRST_CALL + 4;
    /** Stores an object if the key's has the version in the argument. */
    public static final int COMPARE_AND_SET = FIRST_CALL + 5;
    /** Adds the argument to a value of 8 bytes; the answer has the sum. */
    public static final int INCREMENT = FIRST_CALL + 6;
    /** Gives an object another time to live. */
    public static final int TOUCH = FIRST_CALL + 7;
    /**
     * Another lease of a block that the client has read: the argument is its incarnation. The answer has no value, and
     * its status is CHANGED if the key has another block now.
     */
    public static final int RENEW = FIRST_CALL + 8;
    /** [space]: what all shards of the map on this server hold. The answer: words as {@link ShardTotals} has them. */
    public static final int TOTALS = FIRST_CALL + 9;

    /**
     * How often the caller has read blocks of one shard by READ: [space, u32 how many, u32 the shard], and from
     * {@link #KEY} on for each block [u32 unit, u32 READs, u64 incarnation]. The answer has a status alone.
     */
    public static final int REPORT = FIRST_CALL + 10;

    /**
     * Where the caller's session writes reports, which the server merges from then on: [space, u32 number of a region
     * that the caller holds, u32 0, u64 offset of the {@link ReportRing} in it, u64 number before that of the first
     * report, u64 session]. The answer has a status alone.
     */
    public static final int REPORT_RING = FIRST_CALL + 11;

    /** How many kinds of calls change or read a key. */
    public static final int KEY_CALLS = 9;
    /** The most blocks of a report. */
    public static final int MOST_REPORTED = 100;

    // Statuses beside those of KvStatus.
    /** There is no such space, it is no leased map, or the caller does not have it open. */
    public static final int NO_MAP = 64;
    /** The key's shard is not on this server. */
    public static final int ELSEWHERE = 65;
    /** The arguments cannot be. */
    public static final int WRONG = 66;
    /** The value in the caller's area is not the one whose checksum the call has: nothing was stored. */
    public static final int TORN = 67;
    /** The caller does not hold the memory in which it says that the value is: nothing was stored. */
    public static final int NO_AREA = 68;

    public static final int SPACE = 0;
    private static final int KEY_BYTES = 8;
    private static final int FORM = 10;
    private static final int VALUE_BYTES = 12;
    private static final int ARGUMENT = 16;
    private static final int LIFE = 24;
    private static final int SESSION = 32;
    private static final int CALL = 40;
    /** The offset of the key in a request. */
    public static final int KEY = 48;

    private static final int AREA_REGION = 0;
    private static final int AREA_OFFSET = 8;
    private static final int AREA_SUM = 16;
    /** The bytes of a request of form 1 behind its key. */
    public static final int AREA_BYTES = 24;

    private static final int RING_REGION = 8;
    private static final int RING_OFFSET = 16;
    private static final int RING_BEFORE = 24;

    private static final int REPORTED = 8;
    private static final int REPORTED_SHARD = 12;
    private static final int REPORTED_BYTES = 16;

    private static final int STATUS = 0;
    private static final int ANSWER_VALUE_BYTES = 4;
    private static final int VERSION = 8;
    private static final int PLACE = 16;
    private static final int INCARNATION = 24;
    private static final int TERM = 32;
    private static final int INLINE_BYTES = 40;
    /** The offset of the value in an answer. */
    public static final int ANSWER_VALUE = 48;

    /** The most bytes of a block. */
    public static final int MOST_BLOCK_BYTES = SlotWord.MOST_UNITS * LeasedBlock.UNIT_BYTES;
    /** The longest request, which has as much as the longest block. */
    public static final int MOST_REQUEST_BYTES = KEY + MOST_BLOCK_BYTES - LeasedBlock.HEADER_BYTES;
    /** The longest answer. */
    public static final int MOST_ANSWER_BYTES = ANSWER_VALUE + MOST_BLOCK_BYTES - LeasedBlock.HEADER_BYTES;

    private static final int PLACE_SHIFT = 32;

    /** How many sessions of a process may call at a time, and how many places each may have. */
    public static final int MOST_SESSIONS = 1 << 10;

    /** The most requests that all sessions of a process may have in flight, as they are memory of each server. */
    public static final int MOST_PLACES = 1 << 17;

    private static final int SESSION_BITS = 10;
    private static final int CALL_BITS = 48;

    private LeasedCalls() {}

    /** Whether a call stores a value that its client gives. */
    public static boolean stores(int operation) {
        return operation == SET || operation == ADD || operation == REPLACE || operation == COMPARE_AND_SET;
    }

    /** The most bytes of a value that a block holds beside a key. */
    public static int mostValueBytes(int keyBytes) {
        return MOST_BLOCK_BYTES - LeasedBlock.valueAt(keyBytes);
    }

    /** Writes the head of a report. */
    public static void report(MemorySegment to, long at, long space, int shard, int blocks) {
        to.set(JAVA_LONG_UNALIGNED, at + SPACE, space);
        to.set(JAVA_INT_UNALIGNED, at + REPORTED, blocks);
        to.set(JAVA_INT_UNALIGNED, at + REPORTED_SHARD, shard);
    }

    /** Writes a request to merge reports from a ring. */
    public static void ring(MemorySegment to, long at, long space, int region, long offset, long before, int session) {
        to.set(JAVA_LONG_UNALIGNED, at + SPACE, space);
        to.set(JAVA_LONG_UNALIGNED, at + RING_REGION, Integer.toUnsignedLong(region));
        to.set(JAVA_LONG_UNALIGNED, at + RING_OFFSET, offset);
        to.set(JAVA_LONG_UNALIGNED, at + RING_BEFORE, before);
        to.set(JAVA_LONG_UNALIGNED, at + SESSION, session);
    }

    public static int ringRegion(MemorySegment request, long at) {
        return request.get(JAVA_INT_UNALIGNED, at + RING_REGION);
    }

    public static long ringOffset(MemorySegment request, long at) {
        return request.get(JAVA_LONG_UNALIGNED, at + RING_OFFSET);
    }

    /** The number before that of the first report. */
    public static long ringBefore(MemorySegment request, long at) {
        return request.get(JAVA_LONG_UNALIGNED, at + RING_BEFORE);
    }

    /** Writes block {@code number} of a report. */
    public static void reported(MemorySegment to, long at, int number, int unit, int reads, long incarnation) {
        long entry = at + reportBytes(number);
        to.set(JAVA_INT_UNALIGNED, entry, unit);
        to.set(JAVA_INT_UNALIGNED, entry + Integer.BYTES, reads);
        to.set(JAVA_LONG_UNALIGNED, entry + Long.BYTES, incarnation);
    }

    /** The length of a report of so many blocks. */
    public static int reportBytes(int blocks) {
        return KEY + blocks * REPORTED_BYTES;
    }

    public static int reported(MemorySegment report, long at) {
        return report.get(JAVA_INT_UNALIGNED, at + REPORTED);
    }

    public static int reportedShard(MemorySegment report, long at) {
        return report.get(JAVA_INT_UNALIGNED, at + REPORTED_SHARD);
    }

    public static int reportedUnit(MemorySegment report, long at, int number) {
        return report.get(JAVA_INT_UNALIGNED, at + reportBytes(number));
    }

    public static int reportedReads(MemorySegment report, long at, int number) {
        return report.get(JAVA_INT_UNALIGNED, at + reportBytes(number) + Integer.BYTES);
    }

    public static long reportedIncarnation(MemorySegment report, long at, int number) {
        return report.get(JAVA_LONG_UNALIGNED, at + reportBytes(number) + Long.BYTES);
    }

    /** The offset of the value in a request. */
    public static int valueAt(int keyBytes) {
        return KEY + BlockFormat.padded(keyBytes);
    }

    /** Writes all of a request but its name, its key and its value. */
    public static void request(
            MemorySegment to, long at, long space, int keyBytes, int valueBytes, long argument, long lifeMillis) {
        to.set(JAVA_LONG_UNALIGNED, at + SPACE, space);
        to.set(JAVA_SHORT_UNALIGNED, at + KEY_BYTES, (short) keyBytes);
        to.set(JAVA_SHORT_UNALIGNED, at + FORM, (short) 0);
        to.set(JAVA_INT_UNALIGNED, at + VALUE_BYTES, valueBytes);
        to.set(JAVA_LONG_UNALIGNED, at + ARGUMENT, argument);
        to.set(JAVA_LONG_UNALIGNED, at + LIFE, lifeMillis);
        to.set(JAVA_LONG_UNALIGNED, at + SESSION, 0);
        to.set(JAVA_LONG_UNALIGNED, at + CALL, 0);
    }

    /**
     * Says that the value is in memory of the caller's, and not in the request, whose lengths have been written.
     *
     * @param region number of a region that the caller holds
     * @param offset in it
     * @param sum of the value
     */
    public static void valueInArea(MemorySegment request, long at, int keyBytes, int region, long offset, long sum) {
        long area = at + valueAt(keyBytes);
        request.set(JAVA_SHORT_UNALIGNED, at + FORM, (short) 1);
        request.set(JAVA_LONG_UNALIGNED, area + AREA_REGION, Integer.toUnsignedLong(region));
        request.set(JAVA_LONG_UNALIGNED, area + AREA_OFFSET, offset);
        request.set(JAVA_LONG_UNALIGNED, area + AREA_SUM, sum);
    }

    /** The form of a request: 0, 1 if the value is in memory of the caller's, and any other if it cannot be. */
    public static int form(MemorySegment request, long at) {
        return Short.toUnsignedInt(request.get(JAVA_SHORT_UNALIGNED, at + FORM));
    }

    public static int areaRegion(MemorySegment request, long at, int keyBytes) {
        return request.get(JAVA_INT_UNALIGNED, at + valueAt(keyBytes) + AREA_REGION);
    }

    public static long areaOffset(MemorySegment request, long at, int keyBytes) {
        return request.get(JAVA_LONG_UNALIGNED, at + valueAt(keyBytes) + AREA_OFFSET);
    }

    public static long areaSum(MemorySegment request, long at, int keyBytes) {
        return request.get(JAVA_LONG_UNALIGNED, at + valueAt(keyBytes) + AREA_SUM);
    }

    /**
     * Names the call, so that it can be sent again.
     *
     * @param session as {@link #session(int, long)} has it
     * @param place of the session, 0 to {@link #MOST_SESSIONS} - 1
     * @param count of the calls of that place with this one, at least 1
     */
    public static void name(MemorySegment request, long at, long session, int place, long count) {
        request.set(JAVA_LONG_UNALIGNED, at + SESSION, session);
        request.set(JAVA_LONG_UNALIGNED, at + CALL, (long) place << CALL_BITS | count);
    }

    /** The session of a number that is the nth of the process. */
    public static long session(int number, long nth) {
        return nth << SESSION_BITS | number;
    }

    /** The session of a request; 0 if it cannot be sent again. */
    public static long session(MemorySegment request, long at) {
        return request.get(JAVA_LONG_UNALIGNED, at + SESSION);
    }

    /** How many sessions the process had opened with a session. */
    public static long nth(long session) {
        return session >>> SESSION_BITS;
    }

    /** The number of a session among those that the process has at a time. */
    public static int sessionNumber(long session) {
        return (int) session & MOST_SESSIONS - 1;
    }

    /** The place of a request among those of its session; may be above those that there are. */
    public static int callPlace(MemorySegment request, long at) {
        return (int) (request.get(JAVA_LONG_UNALIGNED, at + CALL) >>> CALL_BITS);
    }

    /** How many calls the place has had, with this one. */
    public static long callCount(MemorySegment request, long at) {
        return request.get(JAVA_LONG_UNALIGNED, at + CALL) & (1L << CALL_BITS) - 1;
    }

    public static long space(MemorySegment request, long at) {
        return request.get(JAVA_LONG_UNALIGNED, at + SPACE);
    }

    public static int keyBytes(MemorySegment request, long at) {
        return Short.toUnsignedInt(request.get(JAVA_SHORT_UNALIGNED, at + KEY_BYTES));
    }

    public static int valueBytes(MemorySegment request, long at) {
        return request.get(JAVA_INT_UNALIGNED, at + VALUE_BYTES);
    }

    public static long argument(MemorySegment request, long at) {
        return request.get(JAVA_LONG_UNALIGNED, at + ARGUMENT);
    }

    public static long lifeMillis(MemorySegment request, long at) {
        return request.get(JAVA_LONG_UNALIGNED, at + LIFE);
    }

    /** Writes an answer without a value. */
    public static void answer(
            MemorySegment to,
            long at,
            int status,
            int valueBytes,
            long version,
            long place,
            long incarnation,
            long termNanos) {
        to.set(JAVA_INT_UNALIGNED, at + STATUS, status);
        to.set(JAVA_INT_UNALIGNED, at + ANSWER_VALUE_BYTES, valueBytes);
        to.set(JAVA_LONG_UNALIGNED, at + VERSION, version);
        to.set(JAVA_LONG_UNALIGNED, at + PLACE, place);
        to.set(JAVA_LONG_UNALIGNED, at + INCARNATION, incarnation);
        to.set(JAVA_LONG_UNALIGNED, at + TERM, termNanos);
        to.set(JAVA_LONG_UNALIGNED, at + INLINE_BYTES, 0);
    }

    /** Adds the value to an answer. */
    public static void value(MemorySegment to, long at, MemorySegment from, long valueAt, int valueBytes) {
        MemorySegment.copy(from, valueAt, to, at + ANSWER_VALUE, valueBytes);
        to.set(JAVA_INT_UNALIGNED, at + INLINE_BYTES, valueBytes);
        to.set(JAVA_INT_UNALIGNED, at + ANSWER_VALUE_BYTES, valueBytes);
    }

    public static int status(MemorySegment answer, long at) {
        return answer.get(JAVA_INT_UNALIGNED, at + STATUS);
    }

    /** How many bytes the object's value has. */
    public static int answerValueBytes(MemorySegment answer, long at) {
        return answer.get(JAVA_INT_UNALIGNED, at + ANSWER_VALUE_BYTES);
    }

    public static long version(MemorySegment answer, long at) {
        return answer.get(JAVA_LONG_UNALIGNED, at + VERSION);
    }

    public static long place(MemorySegment answer, long at) {
        return answer.get(JAVA_LONG_UNALIGNED, at + PLACE);
    }

    public static long incarnation(MemorySegment answer, long at) {
        return answer.get(JAVA_LONG_UNALIGNED, at + INCARNATION);
    }

    public static long termNanos(MemorySegment answer, long at) {
        return answer.get(JAVA_LONG_UNALIGNED, at + TERM);
    }

    /** How many bytes of value the answer has: all of the object's, or 0. */
    public static int inlineBytes(MemorySegment answer, long at) {
        return answer.get(JAVA_INT_UNALIGNED, at + INLINE_BYTES);
    }

    /** A place: the shard's number, and the block's unit in the shard. */
    public static long place(int shard, int unit) {
        return (long) shard << PLACE_SHIFT | Integer.toUnsignedLong(unit);
    }

    public static int shard(long place) {
        return (int) (place >>> PLACE_SHIFT);
    }

    public static int unit(long place) {
        return (int) place;
    }
}
