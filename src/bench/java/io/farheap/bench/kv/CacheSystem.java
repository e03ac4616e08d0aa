package io.farheap.bench.kv;

import io.farheap.bench.peers.ChildProcess;
import io.farheap.bench.peers.PeerAbsentException;
import java.nio.file.Path;
import java.util.List;

/** The caches that YCSB is measured on beside a map. */
enum CacheSystem {
    REDIS("redis", "redis-server") {
        @Override
        List<String> options(Path directory, Path socket, long bytes) {
            return List.of(
                    "--port",
                    "0",
                    "--unixsocket",
                    socket.toString(),
                    "--save",
                    "",
                    "--appendonly",
                    "no",
                    "--maxmemory",
                    Long.toString(bytes),
                    "--maxmemory-policy",
                    "allkeys-lru",
                    "--dir",
                    directory.toString());
        }

        @Override
        CacheProtocol protocol(byte[] value) {
            return new RedisProtocol(value);
        }
    },
    MEMCACHED("memcached", "memcached") {
        @Override
        List<String> options(Path directory, Path socket, long bytes) {
            // It does not run as root unless a user is named.
            return List.of(
                    "-s",
                    socket.toString(),
                    "-t",
                    "1",
                    "-m",
                    Long.toString(bytes >> 20),
                    "-u",
                    System.getProperty("user.name"));
        }

        @Override
        CacheProtocol protocol(byte[] value) {
            return new MemcachedProtocol(value);
        }
    };

    /** The value of {@code engine} in its rows. */
    final String engine;

    /** The name of its server's program, and of the Debian package with it. */
    private final String program;

    CacheSystem(String engine, String program) {
        this.engine = engine;
        this.program = program;
    }

    /**
     * Returns the options of a server of one thread that keeps nothing on a disk.
     *
     * @param bytes that it may keep, at least 1 MiB
     */
    abstract List<String> options(Path directory, Path socket, long bytes);

    /**
     * Returns what its clients write and read.
     *
     * @param value of each key
     */
    abstract CacheProtocol protocol(byte[] value);

    /**
     * Returns the path of its server's program.
     *
     * @throws PeerAbsentException if it is not on the PATH
     */
    String program() throws PeerAbsentException {
        return ChildProcess.program(program, program);
    }
}
