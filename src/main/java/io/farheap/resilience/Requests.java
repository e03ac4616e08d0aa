package io.farheap.resilience;

import java.lang.foreign.MemorySegment;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** A session's requests between issue and callback, in the order of issue, in a ring. */
final class Requests {

    /** One of them. */
    static final class Request {
        boolean write;
        long address;
        long length;
        /** Bytes that operations have been made of. */
        long cut;
        /** Operations that have not ended. */
        int open;

        int status;

        @Nullable
        MemorySegment memory;

        long at;

        @Nullable
        CodedCompletion completion;

        long token;
    }

    private final Request[] ring;
    private final int mask;
    private long first;
    /** The first that is not wholly cut into operations. */
    private long uncut;

    private long end;

    /** @param capacity a power of two */
    Requests(int capacity) {
        this.ring = new Request[capacity];
        this.mask = capacity - 1;
        for (int i = 0; i < capacity; i++) {
            ring[i] = new Request();
        }
    }

    int pending() {
        return (int) (end - first);
    }

    int room() {
        return ring.length - pending();
    }

    boolean isFull() {
        return end - first == ring.length;
    }

    Request add() {
        return ring[(int) end++ & mask];
    }

    /** The one that operations are to be made of next, or null. */
    @Nullable
    Request cutting() {
        while (uncut < end) {
            Request request = ring[(int) uncut & mask];
            if (request.cut < request.length && request.status == CodedStatus.OK) {
                return request;
            }
            request.cut = request.length;
            uncut++;
        }
        return null;
    }

    /** The place of {@link #cutting}. */
    int cuttingPlace() {
        return (int) uncut & mask;
    }

    Request at(int place) {
        return ring[place];
    }

    /** An operation has ended. */
    void ended(int place, int status) {
        Request request = ring[place];
        request.open--;
        if (status != CodedStatus.OK && request.status == CodedStatus.OK) {
            request.status = status;
        }
    }

    /** Calls back those that have ended, in the order of issue. */
    int callBack() {
        int called = 0;
        while (first < end) {
            Request request = ring[(int) first & mask];
            if (request.open > 0 || first >= uncut && cutting() == request) {
                break;
            }
            first++;
            if (uncut < first) {
                uncut = first;
            }
            CodedCompletion completion = request.completion;
            request.memory = null;
            request.completion = null;
            called++;
            if (completion != null) {
                completion.completed(request.token, request.status);
            }
        }
        return called;
    }

    /** Ends what no operation has been made of. */
    void closeUncut() {
        for (long i = uncut; i < end; i++) {
            Request request = ring[(int) i & mask];
            if (request.cut < request.length) {
                request.cut = request.length;
                request.status = CodedStatus.CLOSED;
            }
        }
        uncut = end;
    }

    /** The same of those with some tokens. */
    void closeUncut(LongPredicate tokens) {
        for (long i = uncut; i < end; i++) {
            Request request = ring[(int) i & mask];
            if (request.cut < request.length && tokens.test(request.token)) {
                request.cut = request.length;
                request.status = CodedStatus.CLOSED;
            }
        }
    }

    /**
     * Calls back those with some tokens, which have ended, in the order of issue: also before earlier ones of others.
     */
    void callBack(LongPredicate tokens) {
        for (long i = first; i < end; i++) {
            Request request = ring[(int) i & mask];
            CodedCompletion completion = request.completion;
            if (completion != null && tokens.test(request.token)) {
                request.memory = null;
                request.completion = null;
                completion.completed(request.token, request.status);
            }
        }
    }

    /** Whether one that is pending uses some memory. */
    boolean uses(MemorySegment memory) {
        for (long i = first; i < end; i++) {
            if (ring[(int) i & mask].memory == memory) {
                return true;
            }
        }
        return false;
    }
}
