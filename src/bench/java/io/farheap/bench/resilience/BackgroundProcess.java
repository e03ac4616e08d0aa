package io.farheap.bench.resilience;

import io.farheap.command.ChildJvm;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/** A process that loads one server while this is open. One thread. */
final class BackgroundProcess implements AutoCloseable {

    private final ChildJvm jvm;

    /**
     * @param server its HOST:PORT
     * @param piece bytes of each READ or WRITE
     */
    BackgroundProcess(String server, int piece) {
        try {
            jvm = ChildJvm.start(
                    Devices.library(),
                    Map.of(),
                    List.of("-Xmx64m"),
                    List.of(BackgroundLoad.class.getName(), server, Integer.toString(piece)));
            try {
                if (!BackgroundLoad.BEGUN.equals(jvm.output().readLine())) {
                    throw new IOException("it ended before it began; its messages are above");
                }
            } catch (Throwable e) {
                jvm.kill();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot load a server in the background: " + e.getMessage(), e);
        }
    }

    /** Ends the process, and returns how many Gbit/s it has moved. */
    double end() {
        jvm.end();
        try {
            String line = jvm.output().readLine();
            if (line == null) {
                throw new IllegalStateException("the background load failed meanwhile; its messages are above");
            }
            String[] words = line.split(" ");
            return 8.0 * Long.parseLong(words[0]) / Long.parseLong(words[1]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        jvm.close();
    }
}
