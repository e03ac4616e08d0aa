package io.farheap.soak;

import io.farheap.command.ChildJvm;
import io.farheap.command.ServerFaults;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ScriptedServer} as the chaos sees it: what is done to its process, its device and its memory. One thread.
 */
final class ChaosServer implements AutoCloseable {

    private final ChildJvm jvm;
    /** Null until it is known. */
    private @Nullable String address;

    private final ServerFaults faults;
    private boolean dead;
    private boolean rotten;

    /** Starts one, and does not wait until it listens. */
    ChaosServer(long memoryBytes, long regionBytes, long leaseNanos) {
        try {
            jvm = ChildJvm.start(
                    Devices.library(),
                    Map.of(),
                    // Most of a processor's time goes to starting them.
                    List.of("-Xmx64m", "-XX:TieredStopAtLevel=1"),
                    ScriptedServer.arguments(memoryBytes, regionBytes, leaseNanos));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a memory server", e);
        }
        faults = new ServerFaults(jvm.pid());
    }

    /** Waits until it listens. */
    String address() {
        String known = address;
        if (known == null) {
            try {
                known = jvm.awaitAddress("the memory server");
            } catch (IOException e) {
                throw new UncheckedIOException("a memory server does not listen", e);
            }
            address = known;
        }
        return known;
    }

    /** Of its device; softverbs alone has any. */
    ServerFaults faults() {
        return faults;
    }

    boolean dead() {
        return dead;
    }

    /** Whether what it has free may not be zero any more: nobody else is to have it. */
    boolean rotten() {
        return rotten;
    }

    void kill() {
        dead = true;
        jvm.kill();
    }

    void suspend() {
        jvm.suspend();
    }

    void resume() {
        jvm.resume();
    }

    /** Its machine wants all of its memory back, or none any more. */
    void press(boolean all) {
        tell(all ? ScriptedServer.PRESS : ScriptedServer.EASE);
    }

    /** So many random bytes of its memory become others. */
    void rot(int bytes, long seed) {
        rotten = true;
        tell(ScriptedServer.ROT + bytes + " " + seed);
    }

    /** Returns when it is done. */
    private void tell(String line) {
        try {
            jvm.input().write(line + "\n");
            jvm.input().flush();
            String heard;
            do {
                heard = jvm.output().readLine();
                if (heard == null) {
                    throw new IOException("it has ended; what it said is above");
                }
            } while (!ScriptedServer.DONE.equals(heard));
        } catch (IOException e) {
            throw new UncheckedIOException("a memory server does not do as it is told: " + line, e);
        }
    }

    @Override
    public void close() {
        jvm.close();
    }
}
