package io.farheap.resilience.session;

import io.farheap.resilience.contract.CodedCompletion;
import io.farheap.resilience.contract.CodedStatus;
import java.lang.foreign.MemorySegment;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** A session's requests between issue and callback, in the order of issue, in a ring. */
public final class CodedRequests {

    /** A request. Places of the ring are reused. */
    public static final class CodedRequest {
        public boolean write;
        public long address;
        public long length;
        /** How many of its bytes have operations. */
        public long cut;
        /** Operations that have not ended. */
        public int open;

        public int status;

        public @Nullable MemorySegment memory;

        public long at;

        public @Nullable CodedCompletion completion;

        public long token;
    }

    private final CodedRequest[] ring;
    private final int mask;
    private long first;
    /** The first request that is not wholly divided into operations. */
    private long uncut;

    private long end;

    /** @param capacity a power of two */
    public CodedRequests(int capacity) {
        this.ring = new CodedRequest[capacity];
        this.mask = capacity - 1;
        for (int i = 0; i < capacity; i++) {
            ring[i] = new CodedRequest();
        }
    }

    public int pending() {
        return (int) (end - first);
    }

    public int room() {
        return ring.length - pending();
    }

    public boolean isFull() {
        return end - first == ring.length;
    }

    public CodedRequest add() {
        return ring[(int) end++ & mask];
    }

    /** The request of which the next operation is to be made, or null. */
    @Nullable
    CodedRequest cutting() {
        while (uncut < end) {
            CodedRequest request = ring[(int) uncut & mask];
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

    CodedRequest at(int place) {
        return ring[place];
    }

    /** An operation has ended. */
    void ended(int place, int status) {
        CodedRequest request = ring[place];
        request.open--;
        if (status != CodedStatus.OK && request.status == CodedStatus.OK) {
            request.status = status;
        }
    }

    /** Runs the callbacks of requests that have ended, in the order of issue. */
    public int callBack() {
        int called = 0;
        while (first < end) {
            CodedRequest request = ring[(int) first & mask];
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

    /** Ends the requests of which some bytes have no operation yet. */
    public void closeUncut() {
        for (long i = uncut; i < end; i++) {
            CodedRequest request = ring[(int) i & mask];
            if (request.cut < request.length) {
                request.cut = request.length;
                request.status = CodedStatus.CLOSED;
            }
        }
        uncut = end;
    }

    /** The same for the requests with some tokens. */
    public void closeUncut(LongPredicate tokens) {
        for (long i = uncut; i < end; i++) {
            CodedRequest request = ring[(int) i & mask];
            if (request.cut < request.length && tokens.test(request.token)) {
                request.cut = request.length;
                request.status = CodedStatus.CLOSED;
            }
        }
    }

    /**
     * Runs the callbacks of the requests with some tokens, which have ended, in the order of issue, even before those
     * of earlier requests with other tokens.
     */
    public void callBack(LongPredicate tokens) {
        for (long i = first; i < end; i++) {
            CodedRequest request = ring[(int) i & mask];
            CodedCompletion completion = request.completion;
            if (completion != null && tokens.test(request.token)) {
                request.memory = null;
                request.completion = null;
                completion.completed(request.token, request.status);
            }
        }
    }

    /** Whether one that is pending uses some memory. */
    public boolean uses(MemorySegment memory) {
        for (long i = first; i < end; i++) {
            if (ring[(int) i & mask].memory == memory) {
                return true;
            }
        }
        return false;
    }
}
