package io.farheap.bench.peers;

import io.farheap.bench.child.ProcessorTime;
import io.farheap.bench.child.TetheredProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/** A server that a peer needs. It ends with this process, in whatever way that ends. */
public final class ChildProcess implements AutoCloseable {

    private static final long START_NANOS = 30_000_000_000L;

    private final Process shell;
    private final Path log;

    private ChildProcess(Process shell, Path log) {
        this.shell = shell;
        this.log = log;
    }

    /** @param log the file for its output */
    public static ChildProcess start(Path log, List<String> command) throws IOException {
        return new ChildProcess(
                new ProcessBuilder(TetheredProcess.command(command))
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start(),
                log);
    }

    /**
     * Finds a program on the PATH.
     *
     * @throws PeerAbsentException if it is not there
     */
    public static String program(String name, String debianPackage) throws PeerAbsentException {
        for (String directory : System.getenv("PATH").split(":")) {
            Path candidate = Path.of(directory, name);
            if (Files.isExecutable(candidate)) {
                return candidate.toString();
            }
        }
        throw new PeerAbsentException(name + " is not installed (Debian: " + debianPackage + ")");
    }

    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Whether a server listens on a port of this host. It is not connected to: some servers accept one client. */
    public static boolean listens(int port) {
        Pattern listening = Pattern.compile(String.format(Locale.ROOT, ":%04X [0-9A-F]+:0000 0A", port));
        try {
            return listening.matcher(Files.readString(Path.of("/proc/net/tcp"))).find()
                    || listening
                            .matcher(Files.readString(Path.of("/proc/net/tcp6")))
                            .find();
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether a server accepts connections on a Unix socket: the socket's file exists before that. */
    public static boolean accepts(Path socket) {
        try (SocketChannel _ = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns when the server is ready.
     *
     * @throws PeerAbsentException if it does not become ready, with its output
     */
    public void await(BooleanSupplier ready) throws IOException, InterruptedException, PeerAbsentException {
        long deadline = System.nanoTime() + START_NANOS;
        while (!ready.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                String printed = Files.readString(log).strip();
                throw new PeerAbsentException("its server did not start"
                        + (printed.isEmpty()
                                ? ""
                                : ": " + printed.lines().toList().getLast()));
            }
            Thread.sleep(10);
        }
    }

    /** Returns the server's processor time so far, as {@link ProcessorTime#nanos} states it. */
    public long cpuNanos() {
        // The shell's other child waits.
        return ProcessorTime.nanos(shell.descendants());
    }

    @Override
    public void close() throws IOException {
        TetheredProcess.end(shell);
    }
}
