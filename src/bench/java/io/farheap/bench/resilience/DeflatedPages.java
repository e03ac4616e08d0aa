package io.farheap.bench.resilience;

import java.lang.foreign.MemorySegment;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** Pages by {@link Deflater#BEST_SPEED}, without a header and without a check. */
final class DeflatedPages implements PageCompressor {

    private final Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    private final Inflater inflater = new Inflater(true);

    @Override
    public int compress(MemorySegment page, MemorySegment to) {
        deflater.reset();
        deflater.setInput(page.asByteBuffer());
        deflater.finish();
        int length = deflater.deflate(to.asByteBuffer());
        return deflater.finished() ? length : -1;
    }

    @Override
    public boolean decompress(MemorySegment from, MemorySegment page) {
        inflater.reset();
        inflater.setInput(from.asByteBuffer());
        try {
            return inflater.inflate(page.asByteBuffer()) == page.byteSize();
        } catch (DataFormatException e) {
            return false;
        }
    }

    @Override
    public void close() {
        deflater.end();
        inflater.end();
    }
}
