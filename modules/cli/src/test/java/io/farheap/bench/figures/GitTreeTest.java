package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commits that changed what a figure measures, and changes that are in no commit. */
@Needs(Need.HOST)
class GitTreeTest {

    private static final String MAP = "src/main/java/io/farheap/kv/FarMap.java";
    private static final String BENCH = "src/bench/java/io/farheap/bench/kv/YcsbPart.java";
    private static final String LIBRARY = "native/ibverbs/softverbs/model.c";
    private static final List<String> PACKAGES =
            List.of("io.farheap.kv", "io.farheap.bench.kv", "native/ibverbs/softverbs", "io.farheap.none");

    @TempDir
    private Path directory;

    private MadeRepository repository;
    private GitTree tree;

    @BeforeEach
    void make() throws Exception {
        MadeRepository.requireGit();
        repository = new MadeRepository(directory);
        tree = new GitTree(directory);
        repository.write(MAP, "1");
        repository.write(BENCH, "1");
        repository.write(LIBRARY, "1");
        repository.write("text/page.md", "1");
    }

    @Test
    void aCheckoutIsDirtyIfASourceDiffersFromItsCommit() throws Exception {
        String commit = repository.commit("all");
        assertEquals(commit, tree.commit());
        assertFalse(tree.dirty());
        repository.write("text/page.md", "2");
        assertFalse(tree.dirty(), "a page changes no figure");
        repository.write(MAP, "2");
        assertTrue(tree.dirty());
        repository.commit("map");
        assertFalse(tree.dirty());
        repository.write("src/bench/java/io/farheap/bench/kv/New.java", "1");
        assertTrue(tree.dirty(), "a source that is in no commit");
    }

    @Test
    void theLatestCommitThatChangedThePackagesIsFound() throws Exception {
        String measured = repository.commit("all");
        assertNull(tree.changed(measured, PACKAGES));
        repository.write("text/page.md", "2");
        repository.write("src/main/java/io/farheap/cache/Cache.java", "1");
        repository.commit("a page, and a package of other figures");
        assertNull(tree.changed(measured, PACKAGES));
        repository.write(BENCH, "2");
        repository.commit("the benchmark");
        repository.write(LIBRARY, "2");
        String later = repository.commit("the library");
        repository.write("text/page.md", "3");
        repository.commit("a page");
        GitTree.Commit found = tree.changed(measured, PACKAGES);
        assertNotNull(found);
        assertEquals(later, found.hash());
        assertTrue(found.date().matches("\\d{4}-\\d{2}-\\d{2}"), found::date);
        assertNull(tree.changed(later, PACKAGES));
        assertNull(tree.changed(measured, List.of("io.farheap.kv")), "the map has not changed");
    }

    /** A figure of one engine of maps does not become old by a commit to the other one alone. */
    @Test
    void aPackageThatIsLeftOutMakesNoFigureOld() throws Exception {
        String leased = "src/main/java/io/farheap/kv/leased/LeasedSession.java";
        repository.write(leased, "1");
        String measured = repository.commit("all");
        repository.write(leased, "2");
        String later = repository.commit("the leased engine");
        List<String> one = List.of("io.farheap.kv", "!io.farheap.kv.leased", "!io.farheap.none");
        assertNull(tree.changed(measured, one));
        assertNotNull(tree.changed(measured, List.of("io.farheap.kv")));
        assertNull(tree.changed(measured, List.of("!io.farheap.kv.leased")), "no package is looked at");
        repository.write(MAP, "2");
        repository.write(leased, "3");
        repository.commit("both");
        assertNotNull(tree.changed(measured, one));
        assertNotNull(tree.changed(later, one));
    }

    @Test
    void aCommitWithoutAChangeOfCodeMakesNoFigureOld() throws Exception {
        String measured = repository.commit("all");
        repository.write(MAP, "2");
        String words = repository.commit("words alone");
        assertNotNull(tree.changed(measured, PACKAGES));
        repository.write(".git-blame-ignore-revs", "# words\n" + words + "\n");
        assertNull(tree.changed(measured, PACKAGES));
    }

    @Test
    void aCommitThatGitDoesNotHaveMakesNoFigureOld() throws Exception {
        repository.commit("all");
        assertNull(tree.changed("0123456789abcdef0123456789abcdef01234567", PACKAGES), "a shallow clone");
    }

    @Test
    void aFigureNeedsACommit() throws IOException {
        String message =
                assertThrows(IllegalArgumentException.class, tree::commit).getMessage();
        assertTrue(message.contains("git reports no commit here"), message);
        assertEquals(
                List.of(
                        "src/main/java/io/farheap/kv",
                        "src/bench/java/io/farheap/bench/kv",
                        "native/ibverbs/softverbs"),
                tree.paths(PACKAGES));
    }
}
