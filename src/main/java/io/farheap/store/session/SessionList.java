package io.farheap.store.session;

import io.farheap.store.contract.StoreCounts;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** A store's open sessions, and how many operations each closed session with a name had done. Any thread. */
public final class SessionList {

    private static final StoreCounts NONE = new StoreCounts(0, 0, 0, 0, 0, 0);

    private final Set<ListedSession> open = new HashSet<>();
    private final Map<String, Long> closed = new TreeMap<>();
    private StoreCounts counted = NONE;
    private boolean ended;

    /** @param closed serials of recovered sessions, by name */
    public SessionList(Map<String, Long> closed) {
        this.closed.putAll(closed);
    }

    /**
     * @param name empty for a session that checkpoints do not remember
     * @param make makes the session, from the number of operations that it has done in earlier lives
     * @param listed returns the entry for the session that was made
     */
    public synchronized <S> S open(String name, LongFunction<S> make, Function<S, ListedSession> listed) {
        if (ended) {
            throw new IllegalStateException("the store is closed");
        }
        if (!name.isEmpty() && open.stream().anyMatch(session -> session.name().equals(name))) {
            throw new IllegalStateException("session \"" + name + "\" is open; close it, or take another name");
        }
        S session = make.apply(name.isEmpty() ? 0 : closed.getOrDefault(name, 0L));
        open.add(listed.apply(session));
        closed.remove(name);
        return session;
    }

    public synchronized void close(ListedSession session) {
        if (open.remove(session)) {
            counted = session.counts().addedTo(counted);
            if (!session.name().isEmpty()) {
                closed.put(session.name(), session.serial());
            }
        }
    }

    public synchronized StoreCounts counts() {
        StoreCounts all = counted;
        for (ListedSession session : open) {
            all = session.counts().addedTo(all);
        }
        return all;
    }

    /** The open sessions, and the serials of closed ones, at the moment when {@code begin} ran. */
    public synchronized Snapshot when(Runnable begin) {
        begin.run();
        return new Snapshot(Set.copyOf(open), new TreeMap<>(closed));
    }

    /** How many operations each session with a name has done. The caller knows that they do no more. */
    public synchronized Map<String, Long> serials() {
        Map<String, Long> all = new TreeMap<>(closed);
        for (ListedSession session : open) {
            if (!session.name().isEmpty()) {
                all.put(session.name(), session.serial());
            }
        }
        return all;
    }

    public record Snapshot(Set<ListedSession> open, Map<String, Long> closed) {}

    /** Names the application's code that the calling thread runs inside one of the sessions; null if it runs none. */
    public synchronized @Nullable String runHere() {
        long here = Thread.currentThread().threadId();
        for (ListedSession session : open) {
            String what = session.runBy(here);
            if (what != null) {
                return what;
            }
        }
        return null;
    }

    /** From now on no session is opened. @return the open ones */
    public synchronized Set<ListedSession> end() {
        ended = true;
        return Set.copyOf(open);
    }
}
