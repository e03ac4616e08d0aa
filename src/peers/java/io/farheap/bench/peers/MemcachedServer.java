package io.farheap.bench.peers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.XMemcachedClientBuilder;
import net.rubyeye.xmemcached.command.BinaryCommandFactory;

/** A memcached of one thread, and a client of it over loopback TCP, the only way that its Java clients know. */
record MemcachedServer(ChildProcess process, int port) implements AutoCloseable {

    /** @param megabytes that it may keep */
    static MemcachedServer start(Path directory, long megabytes) throws Exception {
        int port = ChildProcess.freePort();
        // As root it insists on a user.
        ChildProcess server = ChildProcess.start(
                directory.resolve("memcached.log"),
                List.of(
                        ChildProcess.program("memcached", "memcached"),
                        "-l",
                        "127.0.0.1",
                        "-p",
                        Integer.toString(port),
                        "-U",
                        "0",
                        "-t",
                        "1",
                        "-m",
                        Long.toString(megabytes),
                        "-u",
                        System.getProperty("user.name")));
        try {
            server.await(() -> answers(port));
            return new MemcachedServer(server, port);
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    /** XMemcached's, by the binary protocol. */
    MemcachedClient connect() throws IOException {
        XMemcachedClientBuilder builder =
                new XMemcachedClientBuilder(List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
        builder.setCommandFactory(new BinaryCommandFactory());
        return builder.build();
    }

    private static boolean answers(int port) {
        try (Socket ignored = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        process.close();
    }
}
