package io.farheap.testing;

import java.io.IOException;
import java.io.RandomAccessFile;

/** Memory that changes by itself: written past every protection, as this user's debugger would. */
public final class Rot {

    private Rot() {}

    /**
     * Inverts bytes.
     *
     * @param pid this process, or a child of it
     * @param address their address in that process, as the server grants it
     */
    public static void invert(long pid, long address, int bytes) throws IOException {
        try (RandomAccessFile memory = new RandomAccessFile("/proc/" + pid + "/mem", "rw")) {
            byte[] content = new byte[bytes];
            memory.seek(address);
            memory.readFully(content);
            for (int i = 0; i < bytes; i++) {
                content[i] = (byte) ~content[i];
            }
            memory.seek(address);
            memory.write(content);
        }
    }
}
