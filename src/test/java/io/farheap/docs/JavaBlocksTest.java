package io.farheap.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every block of Java compiles. A block with a type at its left margin is a file as it stands, in a package of its
 * page's, so that the blocks of a page may use each other. Another is a fragment: statements of a method of a
 * {@link Fragment}, with its imports in front and the usual packages imported.
 */
@Needs(Need.HOST)
class JavaBlocksTest {

    private static final Pattern TYPE = Pattern.compile(
            "^(?:public |abstract |final |sealed )*(?:class|interface|record|enum) (\\w+)", Pattern.MULTILINE);
    private static final Pattern IMPORT = Pattern.compile("^import [^;]+;", Pattern.MULTILINE);
    private static final String USUAL = """
            import io.farheap.cache.*;
            import io.farheap.kv.*;
            import io.farheap.remote.*;
            import io.farheap.rpc.*;
            import io.farheap.server.*;
            import io.farheap.store.*;
            import java.io.*;
            import java.lang.foreign.*;
            import java.nio.file.*;
            import java.time.*;
            import java.util.*;
            """;

    @TempDir
    private Path directory;

    @Test
    void everyBlockCompiles() throws IOException {
        Path classes = Files.createDirectory(directory.resolve("classes"));
        List<String> arguments = new ArrayList<>(List.of(
                "-proc:none",
                "-nowarn",
                "-implicit:none",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path")));
        int options = arguments.size();
        int page = 0;
        for (Page each : Page.all()) {
            String pack = "page" + page++;
            for (Page.Block block : each.blocks()) {
                if (block.language().equals("java")) {
                    arguments.add(write(pack, block).toString());
                }
            }
        }
        assertTrue(arguments.size() - options > 10, arguments.size() - options + " blocks of Java");
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int result =
                ToolProvider.getSystemJavaCompiler().run(null, messages, messages, arguments.toArray(String[]::new));
        assertEquals(0, result, messages.toString(StandardCharsets.UTF_8));
    }

    /** Writes a block into a file whose path names the page and the block's line, for the compiler's messages. */
    private Path write(String pack, Page.Block block) throws IOException {
        String code = block.text();
        Matcher type = TYPE.matcher(code);
        String name = "Fragment" + block.first();
        String source;
        if (type.find()) {
            name = type.group(1);
            source = "package " + pack + "; " + code;
        } else {
            StringBuilder imports = new StringBuilder(USUAL);
            IMPORT.matcher(code).results().forEach(each -> imports.append(each.group())
                    .append('\n'));
            source = "package io.farheap.docs;\n" + imports + "abstract class " + pack + name
                    + " extends Fragment {\nvoid run() throws Exception {\n"
                    + IMPORT.matcher(code).replaceAll("") + "}\n}\n";
            name = pack + name;
        }
        Path folder = Files.createDirectories(directory.resolve(block.page() + "." + block.first()));
        return Files.writeString(folder.resolve(name + ".java"), source);
    }
}
