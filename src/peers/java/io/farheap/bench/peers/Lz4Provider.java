package io.farheap.bench.peers;

import io.farheap.bench.resilience.PageCompressor;
import io.farheap.bench.resilience.PageCompressorProvider;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/** Pages by LZ4's fast compressor, of its C library if that can be loaded. */
public final class Lz4Provider implements PageCompressorProvider {

    @Override
    public PageCompressor open() {
        LZ4Factory factory = LZ4Factory.fastestInstance();
        return new Lz4Pages(factory.fastCompressor(), factory.safeDecompressor());
    }

    private static final class Lz4Pages implements PageCompressor {

        private final LZ4Compressor compressor;
        private final LZ4SafeDecompressor decompressor;
        /** With room for every result: the compressor would throw an exception for a page that gets no shorter. */
        private ByteBuffer room = ByteBuffer.allocateDirect(0);

        Lz4Pages(LZ4Compressor compressor, LZ4SafeDecompressor decompressor) {
            this.compressor = compressor;
            this.decompressor = decompressor;
        }

        @Override
        public int compress(MemorySegment page, MemorySegment to) {
            int bytes = (int) page.byteSize();
            int most = compressor.maxCompressedLength(bytes);
            if (room.capacity() < most) {
                room = ByteBuffer.allocateDirect(most);
            }
            int length = compressor.compress(page.asByteBuffer(), 0, bytes, room, 0, most);
            if (length > to.byteSize()) {
                return -1;
            }
            MemorySegment.copy(MemorySegment.ofBuffer(room), 0, to, 0, length);
            return length;
        }

        @Override
        public boolean decompress(MemorySegment from, MemorySegment page) {
            int bytes = (int) page.byteSize();
            try {
                return decompressor.decompress(
                                from.asByteBuffer(), 0, (int) from.byteSize(), page.asByteBuffer(), 0, bytes)
                        == bytes;
            } catch (LZ4Exception e) {
                return false;
            }
        }

        @Override
        public void close() {}
    }
}
