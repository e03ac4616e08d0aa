package io.farheap.cache.onesided;

import io.farheap.cache.contract.Status;
import io.farheap.cache.order.PostedRequest;
import io.farheap.cache.order.RequestFailure;
import io.farheap.connection.Connection;
import io.farheap.control.ControlException;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.queue.QueueCompletions;
import io.farheap.remote.server.LinkRecovery;
import io.farheap.remote.server.ServerConnection;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a session's requests whose connection has failed while its server's lease holds, and the making of
 * that connection again.
 *
 * <p>Each link to a server is a {@link LinkRecovery}. When it is due, a virtual thread has the server destroy its end
 * of the failed connection, which is the fence, and makes another; the session's thread learns of both with its next
 * poll. Meanwhile nothing is posted to that server.
 *
 * <ul>
 *   <li>What has not been posted waits for the connection, for the cache's patience at most, and then ends as
 *       {@link Status#UNREACHABLE}; so does a write that was never posted if a later request that it overlaps may have
 *       taken effect already.
 *   <li>A READ is posted again, unless a later write of the session that it overlaps may have taken effect already:
 *       then it ends as {@link Status#UNREACHABLE}, too.
 *   <li>A write or an atomic that was posted ends behind the fence, as {@link Status#UNKNOWN}; or as
 *       {@link Status#LOST}, with the lease, if the server never answers.
 * </ul>
 *
 * <p><b>Threads.</b> The session's thread inside its gate, or another that has claimed it, but for the virtual thread,
 * which adds to {@link #made} and wakes the session, and threads that leave a server, which add to {@link #left}.
 */
public final class RequestRecovery {

    private static final System.Logger LOG = System.getLogger(RequestRecovery.class.getName());
    /** How often a session looks while it waits for other threads alone, which wake it. */
    private static final long LOOK_NANOS = 1_000_000_000;
    /** The same while it waits for work requests of a request of which others have failed. */
    private static final long SOON_NANOS = 1_000_000;

    /** Both ends of a connection, and the server that has the other. */
    private record KnownEnd(RemoteServer server, ServerConnection end) {}

    /** The link to a server. */
    private record ServerLink(RemoteServer server, LinkRecovery recovery) {}

    /** The end of an attempt to make a link again. */
    private record MadeLink(ServerLink link, boolean made) {}

    private final long patienceNanos;
    private final LongSupplier nanoTime;
    private final Runnable news;
    /** Fences a failed connection and makes another, on the calling thread; throws if the server does not answer. */
    private Consumer<RemoteServer> maker = server -> {};
    /** By the number of the connection. */
    private @Nullable KnownEnd[] ends = new KnownEnd[0];

    private final List<ServerLink> links = new ArrayList<>();
    private final Queue<MadeLink> made = new ConcurrentLinkedQueue<>();
    /** Servers that the session has left. */
    private final Queue<RemoteServer> left = new ConcurrentLinkedQueue<>();
    /** Requests that have failed and wait for their work requests, for a fence, or to be posted again. */
    private final List<PostedRequest> failed = new ArrayList<>();

    /** Whether requests that have failed are not held yet. */
    private boolean fresh;
    /** Whether what is not posted ends at once, since the session is being closed. */
    private boolean closing;

    /**
     * @param patienceNanos how long a request waits for a connection before it is posted
     * @param nanoTime the clock
     * @param news makes the session's next poll {@linkplain SessionEngine#resumeHeld look}, and wakes its thread; any
     *     thread
     */
    public RequestRecovery(long patienceNanos, LongSupplier nanoTime, Runnable news) {
        this.patienceNanos = patienceNanos;
        this.nanoTime = nanoTime;
        this.news = news;
    }

    /** Before the first request. */
    public void maker(Consumer<RemoteServer> fencesAndConnects) {
        maker = fencesAndConnects;
    }

    /** A fence has been executed, or a connection made. Any thread. */
    public void tell() {
        news.run();
    }

    /** The session has left a server for good, and connects to it no more. Any thread. */
    public void forget(RemoteServer server) {
        left.add(server);
        tell();
    }

    /** Notes a connection that is used from now on. */
    void used(RemoteServer server, ServerConnection end) {
        int number = end.connection().number();
        if (number >= ends.length) {
            ends = Arrays.copyOf(ends, number + 1);
        }
        ends[number] = new KnownEnd(server, end);
    }

    long now() {
        return nanoTime.getAsLong();
    }

    /** Until when a request that begins to wait now waits; never 0. */
    long deadline(long now) {
        return now + patienceNanos | 1;
    }

    /** There is no connection to a server whose lease holds: makes one with the next {@link #look}. */
    public void miss(RemoteServer server) {
        fails(server, now());
    }

    /** A link that has failed, or is about to be missed, has carried more than what failed. */
    public void works(RemoteServer server) {
        LinkRecovery recovery = recovery(server, now());
        if (!recovery.isDown()) {
            recovery.works();
        }
    }

    private void fails(RemoteServer server, long now) {
        if (recovery(server, now).fails(now)) {
            server.doubt();
        }
    }

    private LinkRecovery recovery(RemoteServer server, long now) {
        for (ServerLink link : links) {
            if (link.server == server) {
                return link.recovery;
            }
        }
        ServerLink link = new ServerLink(server, new LinkRecovery(now));
        links.add(link);
        return link.recovery;
    }

    /**
     * A work request has ended with an error, and has been taken.
     *
     * @param status of the completion, or {@link QueueCompletions#NOT_POSTED}
     * @param whole whether it was all of its request
     */
    // A completion's connection was used before.
    @SuppressWarnings("NullAway")
    void fails(PostedRequest request, Connection connection, int status, boolean whole) {
        KnownEnd known = ends[connection.number()];
        if (known.server.lost() == null) {
            if (connection.taken() > 1) {
                works(known.server);
            }
            miss(known.server);
        }
        RequestFailure failure = request.failure;
        if (failure == null || failure.settled) {
            failure = new RequestFailure(connection, whole, failure);
            request.failure = failure;
            // It has not ended as long as it is here.
            request.outstanding++;
            failed.add(request);
            fresh = true;
        }
        failure.add(connection);
        if (QueueCompletions.outcome(status) == Outcome.REFUSED) {
            // Repeating it would fail the next connection, too.
            request.status = Status.LOST;
        } else if (status != QueueCompletions.NOT_POSTED && request.write) {
            failure.posted(known.server, known.end);
        }
    }

    /** A request that was sent in a batch has failed; it is held already. */
    void fails(PostedRequest request, RequestFailure failure) {
        request.failure = failure;
        request.outstanding++;
        failed.add(request);
    }

    /** Whether requests that have failed are still in the session's order. */
    boolean fresh() {
        return fresh;
    }

    /** Those requests are held from now on. */
    void held() {
        fresh = false;
    }

    /** Begins to make connections that are due. */
    void look(long now) {
        for (MadeLink each = made.poll(); each != null; each = made.poll()) {
            each.link.recovery.ended(each.made, now);
        }
        for (RemoteServer each = left.poll(); each != null; each = left.poll()) {
            RemoteServer gone = each;
            links.removeIf(link -> link.server == gone);
        }
        for (ServerLink link : links) {
            if (link.recovery.isDown() && link.server.lost() != null) {
                link.recovery.giveUp();
            } else if (link.recovery.begins(now)) {
                begin(link);
            }
        }
    }

    private void begin(ServerLink link) {
        try {
            Thread.ofVirtual().name("farheap-reconnect").start(() -> make(link));
        } catch (Throwable e) {
            made.add(new MadeLink(link, false));
            tell();
            throw e;
        }
    }

    private void make(ServerLink link) {
        boolean connected = false;
        try {
            maker.accept(link.server);
            connected = true;
        } catch (ControlException | VerbsException e) {
            // The server does not answer, or refuses: it is tried again after the back-off.
        } catch (Throwable e) {
            // For lack of memory or descriptors, for example.
            LOG.log(System.Logger.Level.WARNING, "no connection to " + link.server + " for now", e);
        } finally {
            made.add(new MadeLink(link, connected));
            tell();
        }
    }

    /** Ends the requests of which nothing can take effect any more, and makes those wait that are posted again. */
    void settle(long now) {
        for (int i = 0; i < failed.size(); i++) {
            PostedRequest request = failed.get(i);
            RequestFailure failure = request.failure;
            // The last one is this object's.
            if (failure != null && (request.outstanding > 1 || !settle(request, failure, now))) {
                continue;
            }
            failed.remove(i);
            i--;
        }
    }

    /** @return whether it is settled */
    private boolean settle(PostedRequest request, RequestFailure failure, long now) {
        if (!failure.isOver()) {
            failure.forEachAwaited(server -> askAgain(server, now));
            return false;
        }
        failure.settled = true;
        if (request.write && (request.list || !failure.undone())) {
            request.end(failure.lost() ? Status.LOST : Status.UNKNOWN);
        } else if (request.status != Status.OK) {
            request.end(request.status);
        } else if (request.list) {
            request.end(Status.UNREACHABLE);
        } else {
            request.restart();
            if (request.deadline == 0) {
                request.deadline = deadline(now);
            }
            if (closing) {
                request.abandon();
            } else if (now - request.deadline >= 0) {
                request.giveUp();
            }
        }
        return true;
    }

    /**
     * A request awaits the fence of an end of a server's. If its link counts as up, it failed again before this object
     * had heard that it was made, so the failure was taken for the one before.
     */
    private void askAgain(RemoteServer server, long now) {
        for (ServerLink link : links) {
            if (link.server == server && server.lost() == null) {
                fails(server, now);
                return;
            }
        }
    }

    /** Ends at once, from now on, what is not posted. */
    void close() {
        closing = true;
    }

    /** Whether a failed request has not been settled. */
    boolean unsettled() {
        return !failed.isEmpty();
    }

    /**
     * When to {@link #look} again, if no event comes before.
     *
     * @param now the time of the last look
     */
    long next(long now) {
        long least = LOOK_NANOS;
        for (PostedRequest request : failed) {
            if (request.outstanding > 1) {
                // Completions of its other work requests tell nothing.
                least = SOON_NANOS;
            }
        }
        for (ServerLink link : links) {
            if (link.recovery.waits()) {
                least = Math.min(least, link.recovery.due() - now);
            }
        }
        return now + Math.max(0, least);
    }
}
