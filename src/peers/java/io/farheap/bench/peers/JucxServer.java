package io.farheap.bench.peers;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.List;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * Memory that {@link JucxProvider} reads and writes: a process that progresses UCX while a file exists, and sleeps
 * otherwise.
 */
final class JucxServer {

    static final int BYTES = 1 << 20;

    private static final int PROGRESS_BETWEEN_LOOKS = 10_000;
    private static final int REST_MILLIS = 1;

    private JucxServer() {}

    public static void main(String[] arguments) throws Exception {
        Path description = Path.of(arguments[0]);
        Path spin = Path.of(arguments[1]);
        UcpContext context = JucxProvider.context();
        UcpWorker worker = context.newWorker(new UcpWorkerParams());
        UcpMemory memory = JucxProvider.allocate(context, BYTES);
        Path unfinished = description.resolveSibling("jucx.unfinished");
        Files.write(
                unfinished,
                List.of(
                        hex(worker.getAddress()),
                        hex(memory.getRemoteKeyBuffer()),
                        Long.toString(memory.getAddress())));
        Files.move(unfinished, description, StandardCopyOption.ATOMIC_MOVE);
        while (true) {
            for (int i = 0; i < PROGRESS_BETWEEN_LOOKS; i++) {
                worker.progress();
            }
            if (!Files.exists(spin)) {
                Thread.sleep(REST_MILLIS);
            }
        }
    }

    private static String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
