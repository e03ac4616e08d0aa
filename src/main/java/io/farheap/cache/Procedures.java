package io.farheap.cache;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.calls.RegisteredProcedure;
import io.farheap.cache.contract.CacheException;
import io.farheap.procedure.translate.Translator;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.running.Translation;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * The procedures of a cache (CompuCache, CIDR 2022): code that is sent once to the servers that have the cache's
 * memory, and then called where the data is. A procedure is a class with a method {@code static int run(Call)}, in the
 * subset of Java that docs/guide/procedures.md describes. Any thread.
 *
 * <p>A server runs the procedures that its operator permits ({@code farheap server --procedures}). If it does not run a
 * procedure, sessions run it themselves, and read and write the server's memory one access after the other.
 */
public final class Procedures {

    /** The procedure only reads; one that changes words of the cache is refused. */
    public static final int READS = RegisteredProcedure.READS;
    /** The procedure may change words of the cache. */
    public static final int WRITES = 0;
    /** Its calls wait for no other request of their session, and none waits for them. */
    public static final int UNORDERED = RegisteredProcedure.UNORDERED;
    /**
     * A call that accesses memory of another server returns to its session, which sends it there. This is the mode of a
     * procedure that is registered without one.
     */
    public static final int SESSION = RegisteredProcedure.SESSION;
    /**
     * A call that accesses memory of another server stops before that access, and the application resumes or drops it:
     * see {@link io.farheap.cache.contract.CallCompletion#stopped}. If the application does not ask for that, the call
     * ends as {@code STOPPED}.
     */
    public static final int STOP = RegisteredProcedure.STOP;

    private static final int MODES = SESSION | STOP;
    private static final int FLAGS = READS | UNORDERED | MODES;

    private final CacheProcedures procedures;

    Procedures(CacheProcedures procedures) {
        this.procedures = procedures;
    }

    /**
     * Registers a procedure on all servers of the cache, and on servers that are added later.
     *
     * @param procedure with a class file, as its class loader finds it
     * @param flags {@link #READS} or {@link #WRITES}, with {@link #UNORDERED} and one of {@link #SESSION} and
     *     {@link #STOP} as wanted
     * @throws RefusedProcedureException if it is not admitted, naming class, line and rule; no server has it then
     * @throws IllegalArgumentException if it changes words of the cache, and {@code flags} has {@link #READS}; if
     *     {@code flags} has two modes; or if it has no class file that its class loader finds
     * @throws CacheException if a server does not answer, or refuses, or the cache has 64 procedures already; no server
     *     has it then
     */
    public Procedure register(Class<?> procedure, int flags) {
        return register(classFile(procedure), flags);
    }

    /** As {@link #register(Class, int)}, with the bytes of a class file. */
    public Procedure register(byte[] classFile, int flags) {
        if ((flags & ~FLAGS) != 0 || (flags & MODES) == MODES) {
            throw new IllegalArgumentException(
                    "flags " + flags
                            + " of a procedure; they are READS or WRITES, with UNORDERED and one of SESSION and STOP as wanted");
        }
        byte[] own = classFile.clone();
        Translation translation = Translator.translate(own, Translator.Limits.DEFAULT);
        if (translation.writes() && (flags & READS) != 0) {
            throw new IllegalArgumentException(
                    translation.name() + " changes words of the cache; register it with Procedures.WRITES");
        }
        return procedures.register(translation, own, flags, Procedure::new);
    }

    /**
     * Removes a procedure from all servers. Calls that are under way end normally; later ones are refused. Idempotent.
     */
    public void unregister(Procedure procedure) {
        procedures.unregister(procedure);
    }

    /** The procedures that are registered. */
    public List<Procedure> all() {
        return procedures.all().stream().map(Procedure.class::cast).toList();
    }

    private static byte[] classFile(Class<?> type) {
        String name = type.getName();
        String file = name.substring(name.lastIndexOf('.') + 1) + ".class";
        try (InputStream in = type.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalArgumentException(name
                        + " has no class file that its class loader finds, as one that was made at run time; hand its bytes"
                        + " over instead");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot read the class file of " + name + ": " + e.getMessage(), e);
        }
    }
}
