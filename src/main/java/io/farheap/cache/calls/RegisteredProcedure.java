package io.farheap.cache.calls;

import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.remote.contract.RemoteServer;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A procedure of a cache, as calls and servers use it. Any thread. */
public abstract class RegisteredProcedure {

    /** The procedure changes no word of the cache. */
    public static final int READS = CallFormat.READS;
    /** Its calls wait for no other request of their session, and none waits for them. */
    public static final int UNORDERED = 2;
    /** A call that accesses memory of another server stops. */
    public static final int STOP = 4;
    /** A call that accesses memory of another server continues there, by way of its session. */
    public static final int SESSION = 8;

    /** Makes the object of a procedure that has been registered. */
    @FunctionalInterface
    public interface Maker<P extends RegisteredProcedure> {

        P make(Object owner, int id, int flags, Translation translation, byte[] classFile);
    }

    /** The object that registered it. */
    private final Object owner;

    private final int id;
    private final int flags;
    private final Translation translation;
    private final byte[] classFile;
    /** For each server the reason why it does not run the procedure; empty if it does. */
    private final Map<RemoteServer, String> servers = new ConcurrentHashMap<>();

    /**
     * How often {@code servers} has changed. Incremented after a change: a thread that reads this before it reads
     * {@code servers}, and caches the result, reads another number after a change that it has missed.
     */
    private final AtomicInteger changes = new AtomicInteger();

    private volatile boolean registered = true;

    public RegisteredProcedure(Object owner, int id, int flags, Translation translation, byte[] classFile) {
        this.owner = owner;
        this.id = id;
        this.flags = flags;
        this.translation = translation;
        this.classFile = classFile;
    }

    /** The name of its class. */
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

    /** A number that changes whenever {@link #runsOn} may have changed. */
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
