package io.farheap.cache;

import io.farheap.procedure.translate.Translation;
import io.farheap.remote.RemoteServer;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A procedure of a cache, which its sessions {@linkplain Session#call call}. Any thread. */
public final class Procedure {

    /** What registered it. */
    private final Object owner;

    private final int id;
    private final int flags;
    private final Translation translation;
    private final byte[] classFile;
    /** Why servers do not run it, by address; empty for those that do. */
    private final Map<RemoteServer, String> servers = new ConcurrentHashMap<>();

    /** How often these have changed: counted after a change, so that who asks before it looks sees that. */
    private final AtomicInteger changes = new AtomicInteger();

    private volatile boolean registered = true;

    Procedure(Object owner, int id, int flags, Translation translation, byte[] classFile) {
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
        return (flags & Procedures.READS) != 0;
    }

    /**
     * Which servers run it; on the others' memory sessions make its accesses themselves, one by one.
     *
     * @return by address: empty, or why it does not
     */
    public Map<String, String> servers() {
        Map<String, String> all = new TreeMap<>();
        servers.forEach((server, why) -> all.put(server.address(), why));
        return all;
    }

    @Override
    public String toString() {
        return name();
    }

    boolean unordered() {
        return (flags & Procedures.UNORDERED) != 0;
    }

    boolean stops() {
        return (flags & Procedures.STOP) != 0;
    }

    Object owner() {
        return owner;
    }

    int id() {
        return id;
    }

    int flags() {
        return flags;
    }

    Translation translation() {
        return translation;
    }

    byte[] classFile() {
        return classFile;
    }

    void servedBy(RemoteServer server, String why) {
        servers.put(server, why);
        changes.incrementAndGet();
    }

    void forget(RemoteServer server) {
        servers.remove(server);
        changes.incrementAndGet();
    }

    /** Another number whenever {@link #runsOn} may have changed. */
    int changes() {
        return changes.get();
    }

    /** Whether a server runs it. */
    boolean runsOn(RemoteServer server) {
        String why = servers.get(server);
        return why != null && why.isEmpty();
    }

    boolean registered() {
        return registered;
    }

    void unregister() {
        registered = false;
    }
}
