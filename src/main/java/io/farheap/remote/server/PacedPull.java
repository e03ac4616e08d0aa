package io.farheap.remote.server;

import io.farheap.connection.WatermarkExchange;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.Ticket;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.ParallelCalls;
import io.farheap.thread.Uninterruptibles;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.Context;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A pull at this process's pace: the client's end of a {@link PullPace}. The server copies a region in pieces, up to
 * the offset that this process has cleared, and writes back how far it is. One thread at a time, which also closes it.
 * Every method throws {@link ControlException} once the pull has failed.
 */
public final class PacedPull implements AutoCloseable {

    private static final long NOT_BEGUN = -1;
    private static final long BEGIN_TIMEOUT_NANOS = TimeLimit.of(10_000_000_000L);
    private static final long STOP_TIMEOUT_NANOS = 100_000_000L;
    /** Pause between two looks at a mark, whose arrival wakes no thread. */
    private static final long LOOK_NANOS = 100_000;
    /**
     * Pause between two looks at leases and the connection while waiting for an answer, whose arrival ends the wait.
     */
    private static final long ANSWER_LOOK_NANOS = 2_000_000;

    private final RemoteRegion into;
    private final LeasedServer server;
    private final List<RemoteServer> sources;
    /** Runs at each look while this waits. If it throws, the wait ends. */
    private final Runnable meanwhile;

    private final WatermarkExchange exchange;
    private final long offset;
    private final long end;
    /** The ticket for the first source, by which the server finds what it has prepared. Null until it has. */
    private @Nullable Ticket ticket;
    /** Null until the pull has begun. */
    private @Nullable CompletableFuture<PullResult> result;

    private long cleared;
    private long copied;
    private volatile boolean closed;

    private record PreparedSource(Ticket ticket, WatermarkEndpoint mark) {}

    /** The calls that prepare a pull; they run on another thread. */
    private interface Preparation {
        PreparedSource run(PacedPull pull, PullPace pace);
    }

    private PacedPull(
            RemoteRegion into,
            List<RemoteServer> sources,
            Runnable meanwhile,
            WatermarkExchange exchange,
            long offset,
            long end) {
        this.into = into;
        this.server = LeasedServer.of(into.server());
        this.sources = sources;
        this.meanwhile = meanwhile;
        this.exchange = exchange;
        this.offset = offset;
        this.end = end;
        this.cleared = offset;
        this.copied = offset;
    }

    /**
     * Prepares a pull and starts it; returns when the server waits for {@link #clear}.
     *
     * @param into the region to fill, from {@code offset} to {@code end}
     * @param source the region with the bytes, at the same offsets
     * @param meanwhile runs at each look while this waits, and ends the wait if it throws
     */
    public static PacedPull begin(
            Context context,
            RemoteRegion into,
            RemoteRegion source,
            long offset,
            long end,
            int pieceBytes,
            Runnable meanwhile) {
        Ticket ticket = LeasedServer.of(source.server()).export(source);
        PacedPull pull = prepare(
                context,
                into,
                List.of(source.server()),
                meanwhile,
                offset,
                end,
                pieceBytes,
                (prepared, pace) ->
                        new PreparedSource(ticket, prepared.server.preparePull(into, source.server(), ticket, pace)));
        try {
            pull.start();
            return pull;
        } catch (Throwable e) {
            Closeables.after(e, pull);
            throw e;
        }
    }

    /**
     * Prepares a rebuild; call {@link #start} next. If this throws, the region is unchanged.
     *
     * @param into the region to fill, from {@code offset} to {@code end}
     * @param code the code's numbers of splits, and the split to make; its sources are replaced by {@code splits}
     * @param splits valid splits, by number, at the same offsets
     * @param meanwhile runs at each look while this waits, and ends the wait if it throws
     */
    public static PacedPull prepareRebuild(
            Context context,
            RemoteRegion into,
            RebuildPlan code,
            SortedMap<Integer, RemoteRegion> splits,
            long offset,
            long end,
            int pieceBytes,
            Runnable meanwhile) {
        List<RemoteServer> servers =
                splits.values().stream().map(RemoteRegion::server).toList();
        return prepare(context, into, servers, meanwhile, offset, end, pieceBytes, (pull, pace) -> {
            List<Integer> numbers = List.copyOf(splits.keySet());
            List<RemoteRegion> regions = List.copyOf(splits.values());
            Ticket[] tickets = new Ticket[regions.size()];
            ParallelCalls.run(
                    tickets.length,
                    i -> tickets[i] = LeasedServer.of(servers.get(i)).export(regions.get(i)));
            List<RebuildPlan.Source> sources = new ArrayList<>();
            for (int i = 0; i < tickets.length; i++) {
                sources.add(
                        new RebuildPlan.Source(numbers.get(i), servers.get(i).address(), tickets[i].token()));
            }
            // A caller that has given up waiting for the tickets may have prepared another pull by now.
            pull.requireOpen();
            RebuildPlan plan = new RebuildPlan(code.dataSplits(), code.paritySplits(), code.split(), sources);
            return new PreparedSource(tickets[0], pull.server.prepareRebuild(into, plan, pace));
        });
    }

    private static PacedPull prepare(
            Context context,
            RemoteRegion into,
            List<RemoteServer> sources,
            Runnable meanwhile,
            long offset,
            long end,
            int pieceBytes,
            Preparation preparation) {
        WatermarkExchange exchange = new WatermarkExchange(context, NOT_BEGUN);
        PacedPull pull = new PacedPull(into, sources, meanwhile, exchange, offset, end);
        try {
            WatermarkEndpoint client =
                    new WatermarkEndpoint(exchange.endpoint(), exchange.address(), exchange.remoteKey());
            PullPace pace = new PullPace(client, offset, end, pieceBytes);
            PreparedSource prepared = pull.await(() -> preparation.run(pull, pace));
            pull.ticket = prepared.ticket();
            WatermarkEndpoint peer = prepared.mark();
            exchange.connect(peer.endpoint(), peer.remoteAddress(), peer.rkey());
            // This clears nothing, but a device that maps a peer's memory on first use does so now, while no thread
            // waits.
            exchange.tell(offset);
            return pull;
        } catch (VerbsException e) {
            Closeables.after(e, pull);
            throw pull.unreachable(e);
        } catch (Throwable e) {
            Closeables.after(e, pull);
            throw e;
        }
    }

    /**
     * Waits for a call that the server answers only after the source has answered it: the loss of either lease ends the
     * wait.
     */
    private <T> T await(Supplier<T> call) {
        CompletableFuture<T> answer = begin(call);
        do {
            requireHeld();
            meanwhile.run();
        } while (!ended(answer, ANSWER_LOOK_NANOS));
        return join(answer);
    }

    /** Waits for an answer, at most so long. An interrupt is restored afterwards, since with it no wait would last. */
    private static boolean ended(CompletableFuture<?> answer, long nanos) {
        boolean interrupted = Thread.interrupted();
        try {
            answer.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            // The caller that takes the answer gets the exception.
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return answer.isDone();
    }

    private void requireOpen() {
        if (closed) {
            throw new ControlException(Code.CANCELLED, "the pull from " + sources + " has been closed");
        }
    }

    private static <T> CompletableFuture<T> begin(Supplier<T> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        Thread.ofVirtual().name("farheap-pull").start(() -> {
            try {
                answer.complete(call.get());
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
        });
        return answer;
    }

    /** Throws if the lease of the server or of a source is lost: nothing may be copied from or to such a server. */
    private void requireHeld() {
        server.requireHeld();
        sources.forEach(RemoteServer::requireHeld);
    }

    /** Starts what was prepared, and returns when the server waits for {@link #clear}. */
    public void start() {
        Ticket prepared = Objects.requireNonNull(ticket);
        result = begin(() -> server.pull(into, sources.getFirst(), prepared));
        long deadline = System.nanoTime() + BEGIN_TIMEOUT_NANOS;
        while (exchange.theirs() != offset) {
            check();
            meanwhile.run();
            if (System.nanoTime() - deadline > 0) {
                throw new ControlException(
                        Code.DEADLINE_EXCEEDED,
                        "memory server " + server + " has not begun to pull within "
                                + BEGIN_TIMEOUT_NANOS / 1_000_000_000L + " s");
            }
            Uninterruptibles.parkNanos(this, LOOK_NANOS);
        }
    }

    /**
     * Allows the server to copy up to an offset. The caller promises that no posted operation changes the bytes before
     * it.
     */
    public void clear(long upTo) {
        try {
            requireHeld();
            // Before the WRITE: even if that fails, the mark may have reached the server.
            cleared = upTo;
            exchange.tell(upTo);
        } catch (VerbsException e) {
            throw unreachable(e);
        }
    }

    /** The offset up to which all bytes have arrived. */
    public long copied() {
        long mark = exchange.theirs();
        if (mark != copied) {
            if (mark < copied || mark > cleared) {
                throw new ControlException(
                        Code.PULL_FAILED,
                        "memory server " + server + " reports that it has copied up to byte " + mark + ", after byte "
                                + copied + "; it may copy up to byte " + cleared);
            }
            copied = mark;
        }
        return mark;
    }

    /** Throws if the pull has failed. */
    public void check() {
        requireHeld();
        try {
            exchange.check();
        } catch (VerbsException e) {
            throw unreachable(e);
        }
        if (begun().isDone() && exchange.theirs() != end) {
            result();
            throw new ControlException(
                    Code.PULL_FAILED, "memory server " + server + " ended its pull at byte " + copied + " of " + end);
        }
    }

    /** The server's result, once all bytes have arrived. */
    public PullResult result() {
        return join(begun());
    }

    private CompletableFuture<PullResult> begun() {
        return Objects.requireNonNull(result);
    }

    private static <T> T join(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof ControlException refused ? refused : e;
        }
    }

    private ControlException unreachable(VerbsException e) {
        return new ControlException(
                Code.UNAVAILABLE, "memory server " + server + " cannot be reached: " + e.getMessage(), e);
    }

    /**
     * Whether the server may still fill the region after this is closed: it has not reported all of what was cleared as
     * copied, nor that it has ended.
     */
    public boolean mayStillFill() {
        return result != null && copied != cleared && !over();
    }

    /** Whether the server has answered that the pull has ended. */
    private boolean over() {
        CompletableFuture<PullResult> answer = begun();
        if (!answer.isDone() || !answer.isCompletedExceptionally()) {
            return answer.isDone();
        }
        return answer.exceptionNow() instanceof ControlException e && e.code() == Code.PULL_FAILED;
    }

    /**
     * Ends the pull, if it has not ended, by a STOP mark; if that cannot be written the server notices otherwise. If
     * the server has copied all that was cleared, this does not wait for its answer.
     */
    @Override
    public void close() {
        closed = true;
        try {
            if (result != null && !over()) {
                stop();
            }
        } finally {
            if (result != null && result.isDone() && !result.isCompletedExceptionally()) {
                exchange.close();
            } else {
                // The server may be in the middle of writing its mark.
                server.closeLate(exchange);
            }
        }
    }

    private void stop() {
        CompletableFuture<PullResult> answer = begun();
        // If all bytes have arrived, the server need not be stopped.
        boolean reachable = copied == end || tell(PullPace.STOP);
        long deadline = System.nanoTime() + STOP_TIMEOUT_NANOS;
        boolean ended = false;
        // If neither end can write to the other any more, the server ends its pull for that reason; until then it
        // refuses another pull.
        while (!ended && System.nanoTime() - deadline < 0) {
            reachable = reachable && reachable();
            boolean told = copied == cleared && (!reachable || exchange.flushed());
            ended = told || ended(answer, copied == cleared ? LOOK_NANOS : ANSWER_LOOK_NANOS);
        }
    }

    private boolean tell(long mark) {
        try {
            exchange.tell(mark);
            return true;
        } catch (VerbsException e) {
            return false;
        }
    }

    /** Polls for completions, without which no mark is written. */
    private boolean reachable() {
        try {
            exchange.check();
            return true;
        } catch (VerbsException e) {
            return false;
        }
    }
}
