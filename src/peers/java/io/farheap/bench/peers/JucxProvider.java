package io.farheap.bench.peers;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * UCX from Java over shared memory: one-sided operations on the memory of {@link JucxServer}, which spins while they
 * run.
 */
public final class JucxProvider implements PeerProvider {

    @Override
    public String name() {
        return Peers.JUCX;
    }

    @Override
    public Peer open(Path directory) throws Exception {
        Path description = directory.resolve("jucx.description");
        Path spin = directory.resolve("jucx.spin");
        ChildProcess server = ChildProcess.start(
                directory.resolve("jucx.log"),
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        JucxServer.class.getName(),
                        description.toString(),
                        spin.toString()));
        try {
            server.await(() -> Files.exists(description));
            return new JucxPeer(server, spin, Files.readAllLines(description));
        } catch (UnsatisfiedLinkError e) {
            server.close();
            throw new PeerAbsentException("jucx cannot load UCX (Debian: libucx0): " + e.getMessage(), e);
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    static UcpContext context() {
        return new UcpContext(new UcpParams().requestRmaFeature().setConfig("TLS", "posix,self"));
    }

    static UcpMemory allocate(UcpContext context, long bytes) {
        return context.memoryMap(new UcpMemMapParams().allocate().setLength(bytes));
    }

    private static final class JucxPeer implements Peer {

        private final ChildProcess server;
        private final Path spin;
        private final UcpContext context = context();
        private final UcpWorker worker = context.newWorker(new UcpWorkerParams());
        private final UcpMemory memory = allocate(context, 2L * JucxServer.BYTES);
        private final UcpEndpoint endpoint;
        private final UcpRemoteKey remoteKey;
        private final long remote;
        private final long value = memory.getAddress();
        private final long fetched = memory.getAddress() + JucxServer.BYTES;
        private int bytes;

        /** @param description address of the worker, key, and address of the memory, as the server wrote them */
        JucxPeer(ChildProcess server, Path spin, List<String> description) {
            this.server = server;
            this.spin = spin;
            endpoint = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(direct(description.get(0))));
            remoteKey = endpoint.unpackRemoteKey(direct(description.get(1)));
            remote = Long.parseLong(description.get(2));
        }

        @Override
        public void use(byte[] newValue) {
            bytes = newValue.length;
            OffHeapValues.store(newValue, OffHeapValues.at(value, bytes));
        }

        @Override
        public void put(int times) throws Exception {
            for (int i = 0; i < times; i++) {
                endpoint.putNonBlockingImplicit(value, bytes, remote, remoteKey);
                await(endpoint.flushNonBlocking(null));
            }
        }

        @Override
        public void get(int times) throws Exception {
            for (int i = 0; i < times; i++) {
                await(endpoint.getNonBlocking(remote, remoteKey, fetched, bytes, null));
            }
        }

        private void await(UcpRequest request) throws Exception {
            while (!request.isCompleted()) {
                worker.progress();
            }
        }

        @Override
        public byte[] got() {
            return OffHeapValues.load(OffHeapValues.at(fetched, bytes), bytes);
        }

        @Override
        public void begin() throws Exception {
            Files.createFile(spin);
        }

        @Override
        public void end() throws Exception {
            Files.delete(spin);
        }

        @Override
        public void close() throws Exception {
            remoteKey.close();
            endpoint.close();
            memory.close();
            worker.close();
            context.close();
            server.close();
        }

        private static ByteBuffer direct(String hex) {
            byte[] bytes = HexFormat.of().parseHex(hex);
            return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
        }
    }
}
