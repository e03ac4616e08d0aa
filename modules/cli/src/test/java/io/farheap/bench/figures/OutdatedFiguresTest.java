package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stored figures are marked if a later commit changed their code, and by nothing else. */
@Needs(Need.HOST)
class OutdatedFiguresTest {

    private static final String CODE = "src/main/java/io/farheap/made/Made.java";

    @TempDir
    private Path directory;

    private MadeCheckout checkout;
    private MadeRepository repository;

    @BeforeEach
    void make() throws Exception {
        MadeRepository.requireGit();
        repository = new MadeRepository(directory);
        repository.write(CODE, "1");
        checkout = new MadeCheckout(directory);
        JsonObject stored = MadeCheckout.stored();
        stored.addProperty("commit", repository.commit("code"));
        checkout.store(stored);
        checkout.render(MadeCheckout.TODAY);
        repository.commit("its figure");
    }

    private FigureFile stored() throws Exception {
        FigureFile stored = FigureFile.read(directory, "made");
        assertNotNull(stored);
        return stored;
    }

    @Test
    void aFigureIsMarkedOnceForEachCommitThatChangedItsCode() throws Exception {
        assertEquals(0, OutdatedFigures.mark(directory, checkout.list()));
        assertNull(stored().outdatedBy());
        repository.write(CODE, "2");
        String later = repository.commit("later code");
        assertEquals(1, OutdatedFigures.mark(directory, checkout.list()));
        GitTree.Commit by = stored().outdatedBy();
        assertNotNull(by);
        assertEquals(later, by.hash());
        assertEquals(0, OutdatedFigures.mark(directory, checkout.list()), "it has this mark");
        checkout.render(MadeCheckout.TODAY);
        assertTrue(checkout.page().contains("Old: the code has changed.*"), checkout.page());
        assertEquals(List.of(), checkout.problems());
    }

    /** Otherwise each commit to a package would fail the tests of the next one. */
    @Test
    void aLaterCommitMakesNoPageWrong() throws Exception {
        assertEquals(List.of(), checkout.problems());
        repository.write(CODE, "2");
        repository.commit("later code");
        assertEquals(List.of(), checkout.problems());
    }

    @Test
    void aBrokenFileStopsNoOtherMark() throws Exception {
        Files.writeString(directory.resolve(FigureFile.place("made")), "{");
        assertEquals(0, OutdatedFigures.mark(directory, checkout.list()));
    }
}
