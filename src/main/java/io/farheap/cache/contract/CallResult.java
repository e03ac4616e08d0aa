package io.farheap.cache.contract;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.procedure.CallStatus;
import java.lang.foreign.MemorySegment;
import java.util.function.LongBinaryOperator;

/**
 * How a call of a procedure ended.
 *
 * @param status one of {@link CallStatus}
 * @param code the value that the procedure returned if the status is {@link CallStatus#DONE}; a reason of
 *     {@code CallStatus} if it is {@code REFUSED}, {@code UNREACHABLE} or {@code INCOMPLETE}; else 0
 * @param bytes length of the result, which is in the buffer or the segment that the call was given
 * @param address the cache address of the access that ended the call, or at which it could not continue; if a place in
 *     arguments, result or scratch memory ended it, that offset; {@link #NOWHERE} if there is none
 * @param line the line of the procedure's source at which the call ended; 0 if that is unknown
 * @param handle by which the call can be {@linkplain io.farheap.cache.CacheSession#resume resumed}, once, if it has
 *     stopped; {@link #NO_HANDLE} if it cannot. Until it is resumed or {@linkplain io.farheap.cache.CacheSession#drop
 *     dropped}, it has one of the 64 places that a session has for stopped calls
 */
public record CallResult(int status, int code, int bytes, long address, int line, long handle) {

    /** The address of a call that no access ended. */
    public static final long NOWHERE = -1;
    /** The handle of no call. */
    public static final long NO_HANDLE = 0;

    /** Joins results of a range's calls, of 8 bytes each, to their sum, which wraps around as Java's does. */
    public static final ResultJoiner SUM = new LongTotal(Long::sum);
    /** The same, to the least of them; they are signed. */
    public static final ResultJoiner LEAST = new LongTotal(Math::min);
    /** The same, to the greatest of them; they are signed. */
    public static final ResultJoiner GREATEST = new LongTotal(Math::max);

    /** The result of a call that no access ended. */
    public CallResult(int status, int code, int bytes) {
        this(status, code, bytes, NOWHERE, 0, NO_HANDLE);
    }

    /** The result of a call that cannot be resumed. */
    public CallResult(int status, int code, int bytes, long address, int line) {
        this(status, code, bytes, address, line, NO_HANDLE);
    }

    /** Whether the procedure ran to its end. */
    public boolean done() {
        return status == CallStatus.DONE;
    }

    /** The status, the reason, the address and the line in words, as far as they are known. */
    public String describe() {
        return CallStatus.describe(status, code)
                + (address == NOWHERE ? "" : ", at " + address)
                + (line == 0 ? "" : ", in line " + line);
    }

    /**
     * How the calls of a range ended.
     *
     * @param status {@link CallStatus#DONE} if the call of each piece ended as that; else the status of the first that
     *     ended otherwise, or the reason why the results could not be joined
     * @param code a reason of {@code CallStatus} if the status is {@code REFUSED}, {@code UNREACHABLE} or
     *     {@code INCOMPLETE}; else 0
     * @param bytes length of the joined result, which is in the buffer
     * @param piece the first address of the piece whose call failed; {@link #NOWHERE} if none failed
     * @param address as {@link CallResult#address}, of that call
     * @param line as {@link CallResult#line}, of that call
     */
    public record RangeResult(int status, int code, int bytes, long piece, long address, int line) {

        /** Whether the procedure ran to its end for each piece. */
        public boolean done() {
            return status == CallStatus.DONE;
        }

        /** The status, the reason, the address, the line and the piece in words, as far as they are known. */
        public String describe() {
            return new CallResult(status, code, bytes, address, line).describe()
                    + (piece == NOWHERE ? "" : ", in the piece that begins at " + piece);
        }
    }

    /**
     * Joins the results of a range's calls, two at a time, on the session's thread and under the rules of its
     * callbacks. The results of neighbouring pieces are joined as they arrive, in any grouping: joining (a, b) with c
     * must give the same as joining a with (b, c). An empty result is left out.
     */
    public interface ResultJoiner {

        /**
         * Replaces a result by the join of it and the one of later addresses. An exception ends the range as
         * {@link CallStatus#INCOMPLETE}, and is thrown by the poll.
         *
         * @param memory both results; other bytes of it belong to other results
         * @param at offset of the result of the earlier addresses, which is replaced
         * @param bytes its length, at least 1
         * @param laterAt offset of the result of the later addresses
         * @param laterBytes its length, at least 1
         * @param room the most bytes that the joined result may have
         * @return the length of the joined result; a value that is negative or above {@code room} ends the range as
         *     {@link CallStatus#RESULT_FULL}
         */
        int join(MemorySegment memory, long at, int bytes, long laterAt, int laterBytes, int room);

        /**
         * Whether the results must be joined in the order of their pieces' addresses. If not, any result may be the
         * earlier one of {@link #join}, and none waits for those of earlier pieces.
         */
        default boolean ordered() {
            return true;
        }
    }

    /** Joins results of 8 bytes, little-endian, into one. */
    private record LongTotal(LongBinaryOperator operator) implements ResultJoiner {

        @Override
        public int join(MemorySegment memory, long at, int bytes, long laterAt, int laterBytes, int room) {
            if (bytes != Long.BYTES || laterBytes != Long.BYTES) {
                throw new IllegalArgumentException("results of " + bytes + " and " + laterBytes
                        + " bytes; those of which the sum, the least or the greatest is taken have " + Long.BYTES
                        + " or none");
            }
            memory.set(
                    JAVA_LONG_UNALIGNED,
                    at,
                    operator.applyAsLong(
                            memory.get(JAVA_LONG_UNALIGNED, at), memory.get(JAVA_LONG_UNALIGNED, laterAt)));
            return Long.BYTES;
        }

        @Override
        public boolean ordered() {
            return false;
        }
    }
}
