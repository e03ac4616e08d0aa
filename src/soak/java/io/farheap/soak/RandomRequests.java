package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;

/** What a worker does next: reads and writes of its pieces, and of words. */
final class RandomRequests {

    private static final int WORD_SHARE = 4;
    private static final int WRITE_SHARE = 3;

    private final WorkerLayout.Share own;
    private final List<SharedWord> words;
    private final SplittableRandom random;

    /**
     * @param own what it reads and writes
     * @param words that it reads
     */
    RandomRequests(WorkerLayout.Share own, List<SharedWord> words, SplittableRandom random) {
        this.own = own;
        this.words = words;
        this.random = random;
    }

    /** @param client that will take it */
    void choose(SoakRequest request, CacheClient client) {
        request.onHeap = !client.takesBuffers() || random.nextInt(4) == 0;
        boolean write = random.nextInt(WRITE_SHARE) == 0;
        if (!own.pieces().isEmpty() && random.nextInt(WORD_SHARE) != 0) {
            request.all(any(own.pieces()), write);
            narrow(request, client.takesRecords() && random.nextInt(4) == 0);
        } else {
            boolean ownWord = write && !own.words().isEmpty();
            request.all(any(ownWord ? own.words() : words), ownWord);
        }
        request.part.issuing(request);
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private void narrow(SoakRequest request, boolean records) {
        int bytes = request.part.bytes();
        request.length = length(bytes);
        if (records) {
            // Records of one request do not overlap: there is no order among them.
            int share = bytes / SoakRequest.MAX_RECORDS;
            request.length = Math.min(request.length, share);
            request.count = 1 + random.nextInt(SoakRequest.MAX_RECORDS);
            request.onHeap = false;
            for (int record = 0; record < request.count; record++) {
                request.addresses[record] =
                        request.part.address() + (long) record * share + random.nextInt(share - request.length + 1);
            }
        } else {
            request.addresses[0] += random.nextInt(bytes - request.length + 1);
        }
        if (request.write) {
            byte[] data = new byte[request.bytes()];
            random.nextBytes(data);
            MemorySegment.copy(data, 0, request.data(), JAVA_BYTE, 0, data.length);
        }
    }

    private int length(int most) {
        int wanted =
                switch (random.nextInt(8)) {
                    case 0, 1, 2 -> Long.BYTES;
                    case 3, 4 -> 1 + random.nextInt(256);
                    case 5, 6 -> 1 + random.nextInt(8 << 10);
                    default -> 1 + random.nextInt(SoakRequest.MAX_BYTES);
                };
        return Math.min(wanted, most);
    }
}
