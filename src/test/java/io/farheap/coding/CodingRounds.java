package io.farheap.coding;

import com.sun.management.ThreadMXBean;
import io.farheap.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;

/**
 * A process that codes in rounds until three successive rounds have allocated nothing, or until its deadline. It prints
 * how many of the last rounds allocated nothing.
 */
final class CodingRounds {

    private static final int BYTES = 512;
    private static final int WANTED = 3;

    private CodingRounds() {}

    /** @param arguments the library's name */
    public static void main(String[] arguments) {
        CodingLibrary library = CodingLibrary.valueOf(arguments[0]);
        ErasureCode code = ErasureCode.of(8, 2);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int silent = 0;
        try (Arena arena = Arena.ofConfined();
                Coder coder = new Coder(code, library)) {
            long memory = arena.allocate((long) (code.splits() + 2) * BYTES, 64).address();
            long[] addresses = new long[ErasureCode.MOST_DATA + ErasureCode.MOST_PARITY];
            for (int split = 0; split < code.splits() + 2; split++) {
                addresses[split] = memory + (long) split * BYTES;
            }
            // Vectors are objects until the code is compiled, which may take long on a busy machine.
            long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
            while (silent < WANTED && System.nanoTime() - deadline < 0) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 5_000; i++) {
                    coder.encode(addresses, BYTES);
                    coder.recover(addresses, BYTES, code.all() & ~3, 3);
                    coder.recover(addresses, BYTES, code.all() & ~4, 4);
                    coder.agree(addresses, BYTES, code.all());
                    coder.addChange(3, addresses[11], addresses, 64);
                }
                silent = threads.getCurrentThreadAllocatedBytes() == before ? silent + 1 : 0;
            }
        }
        System.out.println(silent + " rounds that allocated nothing");
    }
}
