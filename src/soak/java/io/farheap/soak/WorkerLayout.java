package io.farheap.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Divides a cache among workers: pieces of random sizes, which know nothing of regions, each with a word behind it.
 * Every byte belongs to a piece or a word, but for those that align a word.
 */
final class WorkerLayout {

    /** What is one worker's to write. */
    record Share(List<WorkerPiece> pieces, List<SharedWord> words) {}

    private static final int MIN_PIECE = 200;

    private final List<Share> shares = new ArrayList<>();

    WorkerLayout(long capacity, int workers, SplittableRandom random) {
        for (int worker = 0; worker < workers; worker++) {
            shares.add(new Share(new ArrayList<>(), new ArrayList<>()));
        }
        long at = 0;
        while (capacity - at >= MIN_PIECE + 2 * Long.BYTES) {
            long room = capacity - at - 2 * Long.BYTES;
            int bytes = (int) Math.min(room, randomBytes(random));
            shares.get(random.nextInt(workers)).pieces().add(new WorkerPiece(at, bytes));
            long word = Math.ceilDiv(at + bytes, Long.BYTES) * Long.BYTES;
            shares.get(random.nextInt(workers)).words().add(new SharedWord(word));
            at = word + Long.BYTES;
        }
    }

    /** As many of 200 to 400 bytes as of 64 to 128 KiB. */
    private static int randomBytes(SplittableRandom random) {
        double factor = Math.log((double) SoakRequest.MAX_BYTES / MIN_PIECE);
        return (int) (MIN_PIECE * Math.exp(random.nextDouble() * factor));
    }

    Share share(int worker) {
        return shares.get(worker);
    }

    List<SharedWord> words() {
        return shares.stream().flatMap(share -> share.words().stream()).toList();
    }

    List<CachePart> all() {
        return shares.stream()
                .flatMap(share -> Stream.<CachePart>concat(share.pieces().stream(), share.words().stream()))
                .toList();
    }
}
