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
 * A pull that goes at this process's pace: the client's end of a {@link PullPace}. One thread at a time, which closes
 * it. Everything throws {@link ControlException} once the pull has failed.
 */
public final class PacedPull implements AutoCloseable {

    private static final long NOT_BEGUN = -1;
    private static final long BEGIN_TIMEOUT_NANOS = TimeLimit.of(10_000_000_000L);
    private static final long STOP_TIMEOUT_NANOS = 100_000_000L;
    /** Between looks at a mark, which wakes nobody. */
    private static final long LOOK_NANOS = 100_000;
    /** Between looks at leases and the connection while an answer is awaited, which ends the wait itself. */
    private static final long ANSWER_LOOK_NANOS = 2_000_000;

    private final RemoteRegion into;
    private final LeasedServer server;
    private final List<RemoteServer> sources;
    /** Run at each look while something is awaited. May throw, which ends the wait. */
    private final Runnable meanwhile;

    private final WatermarkExchange exchange;
    private final long offset;
    private final long end;
    /** For the first source, by which the server knows what it has prepared. Null until it has. */
    private @Nullable Ticket ticket;
    /** Null until it has begun. */
    private @Nullable CompletableFuture<PullResult> result;

    private long cleared;
    private long copied;
    private volatile boolean closed;

    private record PreparedSource(Ticket ticket, WatermarkEndpoint mark) {}

    /** Calls that have everything ready, on another thread. */
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
     * Has everything ready but the copy, and returns when the server waits for {@link #clear}.
     *
     * @param into fills this region, from {@code offset} on to {@code end}
     * @param source with this one's bytes, at the same offsets
     * @param meanwhile is run at each look while something is awaited, and ends the wait where it throws
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
     * Has everything ready for a rebuild: {@link #start} is next. Where this throws, the region is as it was.
     *
     * @param into is made from {@code offset} on to {@code end}
     * @param code of how many splits it is, and which is to be made; the sources are those of {@code splits}
     * @param splits good ones, by number, at the same offsets
     * @param meanwhile is run at each look while something is awaited, and ends the wait where it throws
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
            // Whoever has given up waiting for the tickets may have another one prepared by now.
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
            // Clears nothing, but a device that maps a peer's memory on first use does so now, while nobody waits for
            // it.
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
     * What a call returns that the server answers when the source has answered it: the loss of either ends the wait.
     */
    private <T> T await(Supplier<T> call) {
        CompletableFuture<T> answer = begin(call);
        do {
            requireHeld();
            meanwhile.run();
        } while (!ended(answer, ANSWER_LOOK_NANOS));
        return join(answer);
    }

    /** Waits for it, so long at most. An interrupt is kept for later: with it no wait would last. */
    private static boolean ended(CompletableFuture<?> answer, long nanos) {
        boolean interrupted = Thread.interrupted();
        try {
            answer.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            // Whoever wants the answer is told.
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
            throw new ControlException(Code.CANCELLED, "the pull from " + sources + " is not wanted any more");
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

    /** Nothing is copied from a server, or to one, whose lease is lost. */
    private void requireHeld() {
        server.requireHeld();
        sources.forEach(RemoteServer::requireHeld);
    }

    /** Begins what was prepared, and returns when the server waits for {@link #clear}. */
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

    /** Lets the server copy up to an offset: nothing that is posted changes what lies before it. */
    public void clear(long upTo) {
        try {
            requireHeld();
            // Before it is told: where that fails, the server may know of it all the same.
            cleared = upTo;
            exchange.tell(upTo);
        } catch (VerbsException e) {
            throw unreachable(e);
        }
    }

    /** Up to where all has arrived. */
    public long copied() {
        long mark = exchange.theirs();
        if (mark != copied) {
            if (mark < copied || mark > cleared) {
                throw new ControlException(
                        Code.PULL_FAILED,
                        "memory server " + server + " says that it has copied up to byte " + mark + ", after " + copied
                                + "; it may copy up to " + cleared);
            }
            copied = mark;
        }
        return mark;
    }

    /** Throws where the pull has failed. */
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

    /** What the server took, once all has arrived. */
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
     * Whether the server may go on filling the region, once this is closed: some was cleared that it has not said to be
     * there, and it has not said either that it has ended.
     */
    public boolean mayStillFill() {
        return result != null && copied != cleared && !over();
    }

    /** Whether the server has said that it has ended. */
    private boolean over() {
        CompletableFuture<PullResult> answer = begun();
        if (!answer.isDone() || !answer.isCompletedExceptionally()) {
            return answer.isDone();
        }
        return answer.exceptionNow() instanceof ControlException e && e.code() == Code.PULL_FAILED;
    }

    /**
     * Ends the pull, where it has not ended: the server is told, or learns it otherwise. Where it has made all that was
     * cleared, nobody waits for it to say so.
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
                // The server may be in the middle of telling how far it is.
                server.closeLate(exchange);
            }
        }
    }

    private void stop() {
        CompletableFuture<PullResult> answer = begun();
        // Where all has arrived it needs not be told.
        boolean reachable = copied == end || tell(PullPace.STOP);
        long deadline = System.nanoTime() + STOP_TIMEOUT_NANOS;
        boolean ended = false;
        // Where the two cannot tell each other anything any more, the server ends its pull for that: until then it
        // refuses another.
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

    /** Polls for completions, without which nothing is told. */
    private boolean reachable() {
        try {
            exchange.check();
            return true;
        } catch (VerbsException e) {
            return false;
        }
    }
}
