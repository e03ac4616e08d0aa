package io.farheap.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Small files by name, each written as a whole. */
interface StableFiles {

    /** It is durable, with its name, when this returns; until then a file of that name is as before. */
    void write(String name, ByteBuffer bytes) throws IOException;

    ByteBuffer read(String name) throws IOException;

    /** In any order. */
    List<String> names() throws IOException;

    void delete(String name) throws IOException;
}
