package io.farheap.resilience.session;

import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.SpaceState;
import java.util.function.LongPredicate;

/**
 * A session's operations on pages, made from its requests in their order. An operation advances when its splits come
 * back, when it is retried, or at a time limit, until it ends. One thread; nothing here allocates after construction.
 */
public final class PageOps implements CompletionHandler {

    /** How many operations are under way at once. */
    public static final int CAPACITY = 128;

    private static final CodedRequests.CodedRequest NOBODY = new CodedRequests.CodedRequest();

    private final SpaceState space;
    private final CodedSessionContext parts;
    private final CodedRequests requests;
    private final SplitGatherer gather;
    private final PageReads reads;
    private final PageWrites writes;
    private final PageOpOrder order = new PageOpOrder(CAPACITY);
    private final PageOp[] ops = new PageOp[CAPACITY];
    private final int[] free = new int[CAPACITY];
    private int freeCount;
    /** Operations that no completion will advance, so that they have to be retried, in the order of issue. */
    private final PageOp[] held = new PageOp[CAPACITY];

    private int heldCount;
    /** Writes that have completed and do not have all their splits yet: their stripe words are taken until they do. */
    private int owing;

    private boolean abandoning;

    public PageOps(SpaceState space, CodedSessionContext parts, CodedRequests requests) {
        this.space = space;
        this.parts = parts;
        this.requests = requests;
        this.gather = new SplitGatherer(parts);
        this.reads = new PageReads(parts, gather);
        this.writes = new PageWrites(parts, gather, this::calledEarly);
        for (int i = CAPACITY - 1; i >= 0; i--) {
            ops[i] = new PageOp(i);
            free[freeCount++] = i;
        }
    }

    /** Whether no operation is under way, owed splits included. */
    public boolean isEmpty() {
        return freeCount == CAPACITY;
    }

    /** How many operations wait for a stripe word, an earlier request, room or a connection. */
    public int held() {
        return heldCount;
    }

    /** How many writes have completed and owe splits. */
    public int owing() {
        return owing;
    }

    /** Makes operations of requests, in their order, and begins them. */
    public void cut() {
        while (freeCount > 0) {
            CodedRequests.CodedRequest request = requests.cutting();
            if (request == null) {
                return;
            }
            PageOp op = ops[free[--freeCount]];
            op.begin();
            op.request = requests.cuttingPlace();
            aim(op, request);
            request.open++;
            request.cut += op.bytes;
            order.add(op);
            step(op, begin(op, request));
        }
    }

    private void aim(PageOp op, CodedRequests.CodedRequest request) {
        Resilience resilience = space.resilience;
        int pageBytes = resilience.pageBytes();
        int splitBytes = resilience.splitBytes();
        long address = request.address + request.cut;
        op.write = request.write;
        op.page = address / pageBytes;
        op.range = (int) (op.page / space.pagesPerSlab);
        op.slabOffset = op.page % space.pagesPerSlab * splitBytes;
        op.pageFrom = (int) (address % pageBytes);
        op.bytes = (int) Math.min(pageBytes - op.pageFrom, request.length - request.cut);
        op.memoryAt = request.cut;
        int firstSplit = op.pageFrom / splitBytes;
        int lastSplit = (op.pageFrom + op.bytes - 1) / splitBytes;
        boolean one = firstSplit == lastSplit;
        op.touched = (2 << lastSplit) - (1 << firstSplit);
        op.columnFrom = one ? op.pageFrom % splitBytes : 0;
        op.columnBytes = one ? op.bytes : splitBytes;
        op.whole = op.bytes == pageBytes || resilience.dataSplits() == 1;
        if (!op.write) {
            op.want = op.touched;
        } else {
            op.want = one ? op.touched | space.code.parity() : space.code.data();
        }
    }

    private int begin(PageOp op, CodedRequests.CodedRequest request) {
        if (order.waits(op)) {
            return PageReads.NOT_YET;
        }
        return op.write ? writes.begin(op, request) : reads.begin(op, request);
    }

    private CodedRequests.CodedRequest requestOf(PageOp op) {
        return op.request < 0 ? NOBODY : requests.at(op.request);
    }

    /** Ends an operation, or lists it to be retried if no completion will advance it. */
    private void step(PageOp op, int status) {
        if (status != PageReads.NOT_YET) {
            end(op, status);
            return;
        }
        PageBuffer slot = op.slot;
        boolean tellsNobody = op.state != PageOp.GATHERING && op.state != PageOp.SENDING
                || op.failed != 0
                || slot != null && slot.unposted != 0;
        if (tellsNobody && !op.listed) {
            op.listed = true;
            held[heldCount++] = op;
        }
    }

    private void end(PageOp op, int status) {
        op.active = false;
        owing -= op.called ? 1 : 0;
        order.remove(op);
        if (op.request >= 0) {
            requests.ended(op.request, status);
        }
        if (op.listed) {
            // It leaves the list, and is freed, in the next retryHeld.
            op.state = PageOp.ENDED;
        } else {
            free[freeCount++] = op.index;
        }
    }

    private void calledEarly(PageOp op) {
        if (op.request >= 0) {
            requests.ended(op.request, CodedStatus.OK);
            op.request = -1;
        }
        owing++;
    }

    /** Receives a completion: of a split, or of a reconnect. */
    @Override
    public void completed(long tag, int outcome) {
        if (CodedConnections.isReconnect(tag)) {
            parts.lines.reconnected(tag, outcome, parts.clock());
            return;
        }
        int split = (int) tag & CodedSessionContext.SPLIT_MASK;
        PageBuffer slot = parts.slot((int) (tag >>> CodedSessionContext.SPLIT_BITS));
        boolean done = outcome == Outcome.DONE;
        if (!done) {
            parts.lines.broke(slot.slabs[split].region().server(), parts.clock());
        }
        int waits = parts.returned(slot, split);
        if (waits == PageBuffer.NOBODY) {
            return;
        }
        PageOp op = ops[waits];
        int status;
        if (op.state == PageOp.GATHERING) {
            status = op.write
                    ? writes.arrived(op, slot, split, done, requestOf(op))
                    : reads.arrived(op, slot, split, done, requestOf(op));
        } else {
            status = writes.written(op, slot, split, done);
        }
        step(op, status);
    }

    /** Retries the held operations. */
    public void retryHeld() {
        int count = heldCount;
        heldCount = 0;
        for (int i = 0; i < count; i++) {
            PageOp op = held[i];
            op.listed = false;
            if (op.state == PageOp.ENDED) {
                free[freeCount++] = op.index;
            } else {
                step(op, again(op));
            }
        }
    }

    private int again(PageOp op) {
        PageBuffer slot = op.slot;
        if (op.state == PageOp.WAITING) {
            return begin(op, requestOf(op));
        }
        if (op.state == PageOp.GATHERING && slot != null) {
            gather.retry(op, slot);
            int found = gather.look(op, slot);
            return op.write
                    ? writes.gathered(op, slot, requestOf(op), found)
                    : reads.after(op, slot, requestOf(op), found);
        }
        return writes.again(op, requestOf(op));
    }

    /** Looks at time limits: hedges late reads, and makes void the slabs of late writes and of lost servers. */
    public void tick() {
        long now = parts.step();
        parts.lines.tick(parts.clock());
        for (PageOp op : ops) {
            PageBuffer slot = op.slot;
            if (slot == null) {
                continue;
            }
            if (op.state == PageOp.GATHERING && !op.hedged && now - op.hedgeAt >= 0) {
                gather.hedge(op, slot);
                int found = gather.look(op, slot);
                step(
                        op,
                        op.write
                                ? writes.gathered(op, slot, requestOf(op), found)
                                : reads.after(op, slot, requestOf(op), found));
            } else if (op.state == PageOp.SENDING) {
                step(op, writes.tick(op, slot));
            }
        }
        if (abandoning) {
            abandonWaiting();
        }
    }

    /**
     * Ends, as {@link CodedStatus#CLOSED}, the operations that have nothing on their way, now and whenever one comes to
     * have nothing on its way.
     */
    public void abandonUnposted() {
        abandoning = true;
        abandonWaiting();
    }

    private void abandonWaiting() {
        for (PageOp op : ops) {
            if (hasNothingOnItsWay(op)) {
                abandon(op);
            }
        }
    }

    private static boolean hasNothingOnItsWay(PageOp op) {
        return op.state == PageOp.WAITING || op.state == PageOp.STARVED || op.state == PageOp.STRICT;
    }

    /**
     * Ends those of requests with some tokens as {@link CodedStatus#CLOSED}: what has nothing on its way now, or all of
     * them, as {@link #abandonAll} does.
     */
    public void abandon(LongPredicate tokens, boolean all) {
        for (PageOp op : ops) {
            boolean wanted = op.active && op.request >= 0 && tokens.test(requestOf(op).token);
            if (wanted && all) {
                abandonOrDetach(op);
            } else if (wanted && hasNothingOnItsWay(op)) {
                abandon(op);
            }
        }
    }

    /**
     * Ends all operations as {@link CodedStatus#CLOSED}. Writes whose splits are on their way continue without their
     * requests: they have copied the bytes that they write.
     */
    public void abandonAll() {
        for (PageOp op : ops) {
            abandonOrDetach(op);
        }
    }

    private void abandonOrDetach(PageOp op) {
        if (op.state != PageOp.SENDING) {
            abandon(op);
        } else if (op.active && op.request >= 0) {
            requests.ended(op.request, CodedStatus.CLOSED);
            op.request = -1;
        }
    }

    /** Whether some operations have not ended. */
    public boolean anyActive() {
        for (PageOp op : ops) {
            if (op.active) {
                return true;
            }
        }
        return false;
    }

    /** Gives up the writes that have not ended: makes the slabs void that they have not written. */
    public void giveUp() {
        for (PageOp op : ops) {
            abandon(op);
        }
    }

    private void abandon(PageOp op) {
        if (!op.active) {
            return;
        }
        if (op.write) {
            writes.abandon(op);
        } else {
            reads.abandon(op);
        }
        end(op, CodedStatus.CLOSED);
    }
}
