package io.farheap.cache;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.RangeResult;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.session.BlockingRequests;
import io.farheap.cache.session.CallRequests;
import io.farheap.cache.session.SessionAdmission;
import io.farheap.cache.session.SessionCore;
import io.farheap.cache.session.SessionProgress;
import io.farheap.cache.session.SessionRequests;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Reads and writes a cache. Requests belong to a session, and a session to one thread at a time: the first that uses
 * it, until it calls {@link #release}. A thread that uses a session of another gets an {@link IllegalStateException}.
 *
 * <h2>Asynchronous requests</h2>
 *
 * {@link #read(long, Buffer, long, long, Completion, long) read} and {@link #write(long, Buffer, long, long,
 * Completion, long) write} take a range of any size at any address, across region boundaries, and return at once:
 * {@code true}, or {@code false} if the session's queue is full, in which case nothing has happened and a {@link #poll}
 * makes room. They allocate nothing. Requests make progress, and callbacks run, when the session is polled. Until its
 * callback runs, a request's memory belongs to the request.
 *
 * <h2>Order</h2>
 *
 * A request takes effect, and is called back, after the earlier requests of its session that overlap it. Callbacks
 * otherwise come in the order of issue, except that a request which a migration holds, or which waits for a server,
 * does not hold back later ones that do not overlap it. Between sessions there is only this guarantee: a read returns
 * what the last completed write to that address stored, for each aligned 8 bytes; a larger read may be torn by a write
 * in flight. In a cache with {@linkplain CacheBuilder#resilience resilience} sessions wait for each other's writes of a
 * page (beyond 2^20 pages several pages share a word, and wait together), so a session with requests pending has to be
 * polled.
 *
 * <h2>Blocking requests</h2>
 *
 * {@link #readBlocking} and {@link #writeBlocking} return when the request has finished. A virtual thread parks at once
 * and never spins its carrier; a platform thread polls for some 50 us first. An interrupt does not end them; the
 * thread's interrupt status is kept for the caller. Callbacks of other requests of the session run meanwhile. If one
 * throws, the blocking call throws that exception, and its own request stays pending: its memory must stay untouched
 * until {@link #drain} has returned.
 */
public final class CacheSession implements AutoCloseable {

    private final SessionCore core;
    // Copies of the core's fields: each request reads them, and this saves it a load.
    private final SessionAdmission admission;
    private final SessionRequests requests;
    private final CallRequests calls;
    private final BlockingRequests blocking;
    private final SessionProgress progress;

    CacheSession(SessionCore core) {
        this.core = core;
        admission = core.admission;
        requests = core.requests;
        calls = core.calls;
        blocking = core.blocking;
        progress = core.progress;
    }

    /** Its inside, for the cache. */
    SessionCore core() {
        return core;
    }

    /**
     * Reads into a registered buffer, with no copy.
     *
     * @param address in the cache, from 0
     * @param offset in the buffer
     * @param length bytes, at least 1
     * @param token passed to the callback
     * @return false if the queue is full, the request would have to wait for a migration for which half as many
     *     requests as the session may have wait already, an earlier call of a procedure is in the way, or the cache is
     *     being {@linkplain Cache#reconfigure reconfigured}; nothing has happened then
     * @throws IndexOutOfBoundsException if the range is not within the cache, or not within the buffer
     * @throws IllegalArgumentException if the buffer belongs to another cache
     * @throws IllegalStateException if the session, the cache or the buffer is closed, or another thread owns the
     *     session
     */
    public boolean read(long address, Buffer destination, long offset, long length, Completion completion, long token) {
        return requests.issue(false, address, destination, offset, length, completion, token);
    }

    /** Writes from a registered buffer, with no copy. Parameters and errors are those of {@link #read}. */
    public boolean write(long address, Buffer source, long offset, long length, Completion completion, long token) {
        return requests.issue(true, address, source, offset, length, completion, token);
    }

    /**
     * Reads {@code destination.byteSize()} bytes into any segment, on the heap too, through a bounce buffer: one copy.
     *
     * @throws IllegalArgumentException if the segment is read-only, or belongs to another thread
     */
    public boolean read(long address, MemorySegment destination, Completion completion, long token) {
        return requests.issue(false, address, destination, completion, token);
    }

    /** Writes all of a segment, on the heap too, through a bounce buffer: one copy. */
    public boolean write(long address, MemorySegment source, Completion completion, long token) {
        return requests.issue(true, address, source, completion, token);
    }

    /**
     * Reads many records of one length into a registered buffer: record {@code i} from {@code addresses[i]} to
     * {@code offset + i * length}. They are one request, with one callback when all have been read, and no order among
     * them. They are sent to each server as one list, or in its batches, so a record costs a fraction of a request of
     * its own. A later request waits only for the records that it overlaps: if a migration holds others, it may be
     * called back before this one.
     *
     * @param addresses in the cache; not kept
     * @param count how many records, from 1 to half of {@link CacheBuilder#requests}; up to the queue depth they are
     *     posted at once
     * @param length of each record, in bytes, at least 1
     * @return false as {@link #read(long, Buffer, long, long, Completion, long) read}, also if there is no room for all
     *     records; nothing has happened then
     * @throws IllegalArgumentException if {@code count} is out of its range; other errors are those of {@link #read}
     */
    public boolean readAll(
            long[] addresses,
            int count,
            Buffer destination,
            long offset,
            int length,
            Completion completion,
            long token) {
        return requests.issueAll(false, addresses, count, destination, offset, length, completion, token);
    }

    /**
     * Writes many records of one length from a registered buffer. Parameters and errors are those of {@link #readAll}.
     */
    public boolean writeAll(
            long[] addresses, int count, Buffer source, long offset, int length, Completion completion, long token) {
        return requests.issueAll(true, addresses, count, source, offset, length, completion, token);
    }

    /**
     * Makes progress, and runs the callbacks of requests that have finished.
     *
     * @return how many callbacks ran
     */
    public int poll() {
        return progress.poll();
    }

    /**
     * Reads, and returns when the data is in the buffer.
     *
     * @throws CacheException if the request failed
     */
    public void readBlocking(long address, Buffer destination, long offset, long length) {
        execute(false, address, destination, offset, length);
    }

    /**
     * Writes, and returns when the write has taken effect.
     *
     * @throws CacheException if the request failed
     */
    public void writeBlocking(long address, Buffer source, long offset, long length) {
        execute(true, address, source, offset, length);
    }

    private void execute(boolean write, long address, Buffer buffer, long offset, long length) {
        int tried = admission.tryExecute(write, address, buffer, offset, length, blocking, blocking.nextToken());
        if (tried != RequestPath.DONE) {
            blocking.finish(tried, write, address, buffer, offset, length);
        }
    }

    /** As {@link #readBlocking(long, Buffer, long, long)}, into any segment. */
    public void readBlocking(long address, MemorySegment destination) {
        blocking.execute(false, address, destination);
    }

    /** As {@link #writeBlocking(long, Buffer, long, long)}, from any segment. */
    public void writeBlocking(long address, MemorySegment source) {
        blocking.execute(true, address, source);
    }

    /** Returns when no request of the session is pending; their callbacks have run. */
    public void drain() {
        blocking.drain();
    }

    /**
     * Polls until at least one callback has run. If none has after 50 us, or after the first poll of a virtual thread,
     * the thread sleeps until there may be progress or it is unparked, and this returns. So it may return before any
     * callback has run: the caller polls, or calls it again. With nothing pending it sleeps until it is unparked. A
     * thread that is interrupted keeps its interrupt status, and sleeps for a millisecond at most.
     */
    public void awaitProgress() {
        progress.awaitProgress();
    }

    /** The same, for {@code most} ns at most. */
    void awaitProgress(long most) {
        progress.awaitProgress(most);
    }

    /**
     * Sends requests that wait in a batch, or a list of work requests, for more to fill it. A poll sends them only if
     * no other request of the session is in flight to that server.
     */
    public void flush() {
        progress.flush();
    }

    /**
     * Calls a procedure, with the whole cache as its footprint; see {@link #call(Procedure, long, long, long, Buffer,
     * long, int, long, int, CallCompletion, long)}.
     */
    public boolean call(
            Procedure procedure,
            long address,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            CallCompletion completion,
            long token) {
        return calls.call(
                procedure,
                address,
                0,
                admission.capacity(),
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultBytes,
                completion,
                token);
    }

    /**
     * Calls a procedure on the server that has an address. If the procedure accesses memory of another server, it
     * continues there. Returns at once, as {@link #read(long, Buffer, long, long, Completion, long) read} does.
     *
     * <p>The call takes effect after earlier requests and calls of the session that its footprint overlaps, and later
     * ones take effect after it; two that only read do not wait for each other. If an earlier one is still in the way,
     * this returns false. Calls are called back as they finish. A procedure that was registered as
     * {@link Procedures#UNORDERED} waits for no request, and no request waits for it.
     *
     * <p>A call runs at most once. If its server or connection is lost meanwhile, it ends as {@code LOST}, once it can
     * no longer take effect. A call of a procedure that only reads may be repeated. A session has up to 128 calls
     * between issue and callback.
     *
     * @param address in the cache
     * @param from the footprint's first address; an access outside of it ends the call
     * @param span the footprint's bytes, at least 1
     * @param buffer contains the arguments, and receives the result; both ranges belong to the call until its callback
     * @param argumentsAt offset of the arguments in the buffer
     * @param argumentBytes 0 to 4096
     * @param resultAt offset of the result in the buffer
     * @param resultBytes the greatest length of the result, 0 to 4096
     * @param token passed to the callback
     * @return false if there is no room, or an earlier request is in the way: poll, and try again
     * @throws IndexOutOfBoundsException if a range is not within the cache, or not within the buffer
     * @throws IllegalArgumentException if the procedure is not registered, or belongs to another cache
     * @throws IllegalStateException as {@link #read(long, Buffer, long, long, Completion, long) read}
     * @throws UnsupportedOperationException if the cache is coded
     */
    public boolean call(
            Procedure procedure,
            long address,
            long from,
            long span,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            CallCompletion completion,
            long token) {
        return calls.call(
                procedure,
                address,
                from,
                span,
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultBytes,
                completion,
                token);
    }

    /**
     * Calls a procedure many times, each with the whole cache as its footprint; see {@link #callAll(Procedure, long[],
     * int, long, long, Buffer, long, int, long, int, CallCompletion, long)}.
     */
    public boolean callAll(
            Procedure procedure,
            long[] addresses,
            int count,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            CallCompletion completion,
            long token) {
        return calls.callAll(
                procedure,
                addresses,
                count,
                0,
                admission.capacity(),
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultBytes,
                completion,
                token);
    }

    /**
     * Calls a procedure many times: call {@code i} on the server that has {@code addresses[i]}, with the arguments at
     * {@code argumentsAt + i * argumentBytes}, the result at {@code resultAt + i * resultBytes}, and the token
     * {@code token + i}. They are sent to each server in batches. Either all are accepted, or none. There is no order
     * among them, and each has a callback of its own, as it finishes. Otherwise each is as {@link #call(Procedure,
     * long, long, long, Buffer, long, int, long, int, CallCompletion, long) call} makes it.
     *
     * @param addresses in the cache; not kept
     * @param count how many calls, from 1 to 64
     * @param argumentBytes of each call
     * @param resultBytes of each call
     * @return false if there is no room for all, or an earlier request is in the way: poll, and try again
     * @throws IllegalArgumentException if {@code count} is out of its range; other errors are those of {@code call}
     */
    public boolean callAll(
            Procedure procedure,
            long[] addresses,
            int count,
            long from,
            long span,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            CallCompletion completion,
            long token) {
        return calls.callAll(
                procedure,
                addresses,
                count,
                from,
                span,
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultBytes,
                completion,
                token);
    }

    /** Calls a procedure, with the whole cache as its footprint, and returns when it has ended. */
    public CallResult callBlocking(
            Procedure procedure,
            long address,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes) {
        return blocking.call(
                procedure, address, 0, admission.capacity(), buffer, argumentsAt, argumentBytes, resultAt, resultBytes);
    }

    /** Calls a procedure, and returns when it has ended, with any status. The arguments are those of {@code call}. */
    public CallResult callBlocking(
            Procedure procedure,
            long address,
            long from,
            long span,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes) {
        return blocking.call(procedure, address, from, span, buffer, argumentsAt, argumentBytes, resultAt, resultBytes);
    }

    /**
     * Continues a call that has stopped at memory of another server ({@link Procedures#STOP}), as if it were issued
     * now: it takes effect after earlier requests and calls that its footprint overlaps, and may stop again. Nothing of
     * it runs between its stop and this.
     *
     * <p>The call has its context, as far as its footprint and the fuel that it has used. If the cache has become
     * smaller, the part of its footprint that is left counts: an address beyond it ends the call as
     * {@code OUT_OF_RANGE}, also while {@link Cache#reshape(long)} waits to make it smaller. If its procedure is not
     * registered any more, the call ends as {@code INCOMPLETE}.
     *
     * @param handle as {@link CallCompletion#stopped} received it; good once, in this session
     * @param buffer receives the result, as long as the call was made for; the range belongs to the call until its
     *     callback
     * @param resultAt offset of the result in the buffer
     * @param completion called when the call has ended, or stops again
     * @param token passed to the callback
     * @return false if there is no room, or an earlier request is in the way: poll, and try again with the same handle
     * @throws IllegalArgumentException if the handle is of no stopped call of this session: it was used or dropped
     * @throws IndexOutOfBoundsException if the result is not within the buffer
     * @throws IllegalStateException as {@link #read(long, Buffer, long, long, Completion, long) read}
     */
    public boolean resume(long handle, Buffer buffer, long resultAt, CallCompletion completion, long token) {
        return calls.resume(handle, buffer, resultAt, completion, token);
    }

    /** Continues a call that has stopped, as {@link #resume} does, and returns when it has ended or stopped again. */
    public CallResult resumeBlocking(long handle, Buffer buffer, long resultAt) {
        return blocking.resume(handle, buffer, resultAt);
    }

    /**
     * Forgets a call that has stopped: what it has stored stays, and nothing else of it takes effect. Closing the
     * session does this to all of its stopped calls.
     *
     * @param handle as {@link #resume}
     * @throws IllegalArgumentException as {@link #resume}
     */
    public void drop(long handle) {
        calls.drop(handle);
    }

    /** How many calls have stopped, and were neither resumed nor dropped: up to 64, which are not {@link #pending}. */
    public int stopped() {
        return calls.stopped();
    }

    /**
     * Calls a procedure for each piece of a range of the cache, and hands each result over; see
     * {@link #callRange(Procedure, long, long, long, Buffer, long, int, long, int, ResultJoiner, RangeCompletion,
     * long)}. The callback gets each result as it comes, in any order: it is at {@code resultAt} of the buffer until
     * {@link RangeCompletion#pieceCompleted} returns.
     */
    public boolean callRange(
            Procedure procedure,
            long from,
            long bytes,
            long piece,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            RangeCompletion completion,
            long token) {
        return calls.callRange(
                procedure,
                from,
                bytes,
                piece,
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultBytes,
                null,
                completion,
                token);
    }

    /**
     * Calls a procedure for each piece of a range of the cache, on all servers that have a part of it at once, and
     * joins the results into one. Returns at once. CompuCache distributes executions over its instances like this (CIDR
     * 2022).
     *
     * <p>The range is cut at the ends of regions, and from there on into pieces of {@code piece} bytes, of which the
     * last of a region may be shorter: no piece crosses the end of a region. The first two arguments of a piece's call
     * are the address and the length of its piece, which is its footprint, and those of the buffer follow. At most 64
     * calls of a session's ranges are under way at a time, and up to 16 of each range that would have fewer; servers
     * take turns. If regions move, or the cache is reconfigured or resized, each piece's call takes effect once
     * nevertheless, or the range ends as {@code LOST}: if a server that the cache leaves does not send a call that
     * writes back, for 10 s, or for 1 s if it does not answer at all.
     *
     * <p>In the order of requests the range is one request, with the range as its footprint: earlier requests that it
     * overlaps take effect before all of its calls, and later ones after its callback. A session has up to 4 ranges
     * between issue and callback. Each call that ends counts for {@link #poll} as a callback.
     *
     * <p>If a call ends otherwise than as {@code DONE}, no call of the range begins any more; those that have begun
     * end, and the callback then receives the piece and the end of the first that failed. What calls stored stays. A
     * call that a server refuses since the client has too many there waits for a place. If the session closes
     * meanwhile, ranges with calls left to make end as {@code REFUSED}.
     *
     * @param from the range's first address
     * @param bytes the range's length, at least 1
     * @param piece the length of a piece, at least 1; give one of which a call needs much less than its fuel
     * @param buffer contains the arguments, and receives the joined result; both ranges belong to the range until its
     *     callback, and do not overlap
     * @param argumentsAt offset in the buffer of the arguments behind the first two
     * @param argumentBytes their length, 0 to 4080
     * @param resultAt offset of the result in the buffer
     * @param resultBytes the greatest length of a result, and of the joined result, 0 to 4096
     * @param joiner joins two results; {@link CallResult#SUM}, {@link CallResult#LEAST}, {@link CallResult#GREATEST},
     *     or one of the application, which joins the results of neighbouring pieces in the order of addresses
     * @param token passed to the callback
     * @return false if there is no room, or an earlier request is in the way: poll, and try again
     * @throws IndexOutOfBoundsException if a range is not within the cache, or not within the buffer
     * @throws IllegalArgumentException if the piece or a length is out of its range, the result overlaps the arguments,
     *     or the procedure is not registered or belongs to another cache
     * @throws IllegalStateException as {@link #read(long, Buffer, long, long, Completion, long) read}
     * @throws UnsupportedOperationException if the cache is coded
     */
    public boolean callRange(
            Procedure procedure,
            long from,
            long bytes,
            long piece,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            ResultJoiner joiner,
            RangeCompletion completion,
            long token) {
        return calls.callRange(
                procedure,
                from,
                bytes,
                piece,
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultBytes,
                Objects.requireNonNull(joiner, "joiner"),
                completion,
                token);
    }

    /**
     * Calls a procedure for each piece of a range, and returns when all calls have ended, with any status. The
     * arguments are those of {@code callRange}. If the joiner throws an exception, this throws it when the range's
     * other calls have ended. If the callback of another request throws one, this throws that at once: the range stays
     * pending, and uses its memory until {@link #drain} returns.
     */
    public RangeResult callRangeBlocking(
            Procedure procedure,
            long from,
            long bytes,
            long piece,
            Buffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            ResultJoiner joiner) {
        return blocking.callRange(
                procedure,
                from,
                bytes,
                piece,
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultBytes,
                Objects.requireNonNull(joiner, "joiner"));
    }

    /** How many requests and calls are between issue and callback; a range counts, and each of its calls. */
    public int pending() {
        return core.pending.count();
    }

    /**
     * How many requests wait for a migration or a server, and calls and ranges for one or for room on the way to their
     * server.
     */
    public int held() {
        return core.pending.held();
    }

    /**
     * Gives up ownership, so that another thread may use the session from now on. The caller passes the session to that
     * thread safely, as any shared object.
     */
    public void release() {
        admission.release();
    }

    /**
     * Finishes requests that have been posted, ends the others with {@link Status#CLOSED}, runs all callbacks, and
     * closes. Requests that callbacks issue meanwhile are refused with {@link IllegalStateException}. In a coded cache,
     * requests that have not ended within ten seconds end with CLOSED too. Idempotent. Exceptions of callbacks are
     * thrown after the session is closed.
     *
     * @throws IllegalStateException if the session belongs to another thread, which has not called {@link #release} and
     *     is alive: nothing has changed then
     */
    @Override
    public void close() {
        core.lifeCycle.close();
    }
}
