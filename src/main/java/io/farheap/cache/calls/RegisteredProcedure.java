package io.farheap.cache.calls;

import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.remote.contract.RemoteServer;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A procedure of a cache, as its calls and its servers know it. Any thread. */
public abstract class RegisteredProcedure {

    /** It changes no word of the cache. */
    public static final int READS = CallFormat.READS;
    /** Its calls wait for no other request of their session, and none waits for them. */
    public static final int UNORDERED = 2;
    /** A call that meets memory of another server ends there. */
    public static final int STOP = 4;

    /** Makes one of what was registered. */
    @FunctionalInterface
    public interface Maker<P extends RegisteredProcedure> {

        P make(Object owner, int id, int flags, Translation translation, byte[] classFile);
    }

    /** What registered it. */
    private final Object owner;

    private final int id;
    private final int flags;
    private final Translation translation;
    private final byte[] classFile;
    /** Why servers do not run it; empty for those that do. */
    private final Map<RemoteServer, String> servers = new ConcurrentHashMap<>();

    /** How often these have changed: counted after a change, so that a thread that asks before it looks sees that. */
    private final AtomicInteger changes = new AtomicInteger();

    private volatile boolean registered = true;

    public RegisteredProcedure(Object owner, int id, int flags, Translation translation, byte[] classFile) {
        this.owner = owner;
        this.id = id;
        this.flags = flags;
        this.translation = translation;
        this.classFile = classFile;
    }

    /** Of the class. */
    public String name() {
        return translation.name();
    }

    /** Whether it was registered as one that only reads. */
    public boolean readsOnly() {
        return (flags & READS) != 0;
    }

    /** Why servers do not run it, by address; empty for those that do. */
    public Map<String, String> servers() {
        Map<String, String> all = new TreeMap<>();
        servers.forEach((server, why) -> all.put(server.address(), why));
        return all;
    }

    @Override
    public String toString() {
        return name();
    }

    final boolean unordered() {
        return (flags & UNORDERED) != 0;
    }

    final boolean stops() {
        return (flags & STOP) != 0;
    }

    final Object owner() {
        return owner;
    }

    final int id() {
        return id;
    }

    final int flags() {
        return flags;
    }

    final Translation translation() {
        return translation;
    }

    final byte[] classFile() {
        return classFile;
    }

    final void servedBy(RemoteServer server, String why) {
        servers.put(server, why);
        changes.incrementAndGet();
    }

    final void forget(RemoteServer server) {
        servers.remove(server);
        changes.incrementAndGet();
    }

    /** Another number whenever {@link #runsOn} may have changed. */
    final int changes() {
        return changes.get();
    }

    /** Whether a server runs it. */
    final boolean runsOn(RemoteServer server) {
        String why = servers.get(server);
        return why != null && why.isEmpty();
    }

    final boolean registered() {
        return registered;
    }

    final void unregister() {
        registered = false;
    }
}
