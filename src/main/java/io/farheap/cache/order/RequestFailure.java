package io.farheap.cache.order;

import io.farheap.connection.Connection;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.ServerAttachment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is known about a request of which work requests have failed with their connection. The session's thread. Made
 * only when a connection fails.
 */
public final class RequestFailure {

    private record UnfencedEnd(RemoteServer server, ServerAttachment end) {}

    /** Null if the request was in a batch. */
    private final @Nullable Connection connection;

    private final boolean whole;
    /** An earlier failure of the same request, which was posted again since; or null. */
    private final @Nullable RequestFailure earlier;

    /** The ends of the connections on which the request may have been done in part. */
    private final List<UnfencedEnd> unfenced = new ArrayList<>();

    private boolean elsewhere;
    private boolean posted;
    private boolean lost;
    /** Whether it is decided what becomes of the request: it ends, or is posted again. */
    public boolean settled;

    /**
     * @param connection on which the first work request failed
     * @param whole whether that work request was all of the request
     * @param earlier its earlier failure, which is {@linkplain #settled settled}; or null
     */
    public RequestFailure(Connection connection, boolean whole, @Nullable RequestFailure earlier) {
        this.connection = connection;
        this.whole = whole;
        this.earlier = earlier;
    }

    /** The failure of a request that was sent in a batch. */
    public RequestFailure() {
        this.connection = null;
        this.whole = true;
        this.earlier = null;
    }

    /** Another work request has failed, or the first. */
    public void add(Connection on) {
        elsewhere |= on != connection;
    }

    /** A work request that writes was posted: it may have taken effect, or may until the server's end is fenced. */
    public void posted(RemoteServer server, ServerAttachment end) {
        posted = true;
        UnfencedEnd each = new UnfencedEnd(server, end);
        if (!unfenced.contains(each)) {
            unfenced.add(each);
        }
    }

    /** Whether nothing of the request has been done: all of it was one work request, which was never posted. */
    public boolean undone() {
        return whole && !posted;
    }

    /** Whether nothing of the request can take effect any more: each end is fenced, or its lease is lost. */
    public boolean isOver() {
        for (int i = unfenced.size() - 1; i >= 0; i--) {
            if (unfenced.get(i).end.isOver()) {
                lost |= unfenced.remove(i).end.isLost();
            }
        }
        return unfenced.isEmpty();
    }

    /** Passes on the servers of the ends that were not over when {@link #isOver} was asked last. */
    public void forEachAwaited(Consumer<RemoteServer> consumer) {
        unfenced.forEach(each -> consumer.accept(each.server));
    }

    /** Whether a lease was lost before, or with which, nothing of it could take effect any more. */
    public boolean lost() {
        return lost;
    }

    /**
     * Whether this request cannot have taken effect before an earlier one that failed: it was posted, or refused,
     * behind it on the same connection. A write is fenced there behind a READ; behind a write that was never posted,
     * nothing was.
     */
    public boolean isBehind(RequestFailure ahead) {
        if (connection == null || !whole || elsewhere) {
            return false;
        }
        for (RequestFailure each = ahead; each != null; each = each.earlier) {
            if (connection == each.connection) {
                return true;
            }
        }
        return false;
    }
}
