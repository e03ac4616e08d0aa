package io.farheap.manager.service.caches;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.manager.CacheManager;
import io.farheap.manager.StoredModel;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.MemoryStore;
import io.farheap.manager.state.ModelRecord;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelsTest {

    @TempDir
    private Path directory;

    private final MemoryStore store = new MemoryStore();
    private ClusterManager cluster = start();

    private ClusterManager start() {
        return new ClusterManager(store, ManagerOptions.DEFAULT, () -> 1, () -> 1);
    }

    private String text(int switches, double nanos) throws IOException {
        Path file = directory.resolve(switches + "-" + nanos);
        ModelSubject subject = new ModelSubject("soft0 (soft)", "a processor of Zürich", switches, 4096, 50, 1, 2);
        try (ModelFile model = ModelFile.open(file, subject)) {
            while (!model.plan().complete()) {
                model.plan().next();
                model.record(new Performance(nanos, 1e5, nanos, 1e5));
            }
        }
        return Files.readString(file);
    }

    private Set<String> texts() {
        Set<String> texts = new HashSet<>();
        cluster.models("").forEach(model -> texts.add(model.text()));
        return texts;
    }

    @Test
    void thereIsOneForEachDistanceAndANewManagerKnowsThem() throws IOException {
        assertEquals(Set.of(), texts());
        String one = text(1, 1000);
        String three = text(3, 3000);
        cluster.putModel(one);
        cluster.putModel(three);
        assertEquals(Set.of(one, three), texts());
        String again = text(3, 4000);
        cluster.putModel(again);
        assertEquals(Set.of(one, again), texts());
        cluster = start();
        assertEquals(Set.of(one, again), texts());
        StoredModel model = cluster.models("").getFirst();
        assertEquals("soft0 (soft)", model.model().subject().device());
        assertEquals(1, cluster.models(model.key()).size());
    }

    @Test
    void oneThatWasRemovedIsGoneForGood() throws IOException {
        String one = text(1, 1000);
        String three = text(3, 3000);
        cluster.putModel(one);
        cluster.putModel(three);
        String key = StoredModel.of(one).key();
        cluster.removeModel(key);
        cluster.removeModel(key);
        cluster.removeModel("no key");
        assertEquals(Set.of(three), texts());
        cluster = start();
        assertEquals(Set.of(three), texts());
    }

    @Test
    void thereIsAMostOfThem() throws IOException {
        String one = text(1, 1000);
        for (int i = 0; i < CacheManager.MAX_MODELS; i++) {
            String key = String.format("%032x", i);
            store.models.put(key, new ModelRecord(key, "kept"));
        }
        cluster = start();
        String refused = assertThrows(ControlException.class, () -> cluster.putModel(one))
                .getMessage();
        assertTrue(refused.contains("keeps 256 performance models") && refused.contains("model remove"), refused);
        cluster.removeModel(String.format("%032x", 7));
        cluster.putModel(one);
        cluster.putModel(one);
        assertTrue(texts().contains(one));
    }

    @Test
    void oneThatIsThereIsNotWrittenAgain() throws IOException {
        String one = text(1, 1000);
        cluster.putModel(one);
        store.failing = true;
        cluster.putModel(one);
    }

    @Test
    void oneThatCannotBeWrittenIsNotThere() throws IOException {
        String one = text(1, 1000);
        store.failing = true;
        assertThrows(ControlException.class, () -> cluster.putModel(one));
        store.failing = false;
        assertEquals(Set.of(), texts());
        cluster.putModel(one);
        assertEquals(Set.of(one), texts());
    }

    private String refusal(String text) {
        return assertThrows(IllegalArgumentException.class, () -> cluster.putModel(text))
                .getMessage();
    }

    @Test
    void whatIsNoCompleteModelIsRefused() throws IOException {
        String one = text(1, 1000);
        assertTrue(refusal("").contains("is not a performance model"));
        assertTrue(refusal("price list\n").contains("is not a performance model"));
        assertTrue(refusal(one.substring(0, one.lastIndexOf("complete"))).contains("is not complete"));
        assertTrue(refusal(one.replace("1000.0 ns", "1001.0 ns")).contains("is damaged in line"));
        assertEquals(Set.of(), texts());
    }

    @Test
    void oneThatANodeCannotHoldIsRefused() {
        String message = refusal("x".repeat(CacheManager.MAX_MODEL_BYTES + 1));
        assertTrue(message.contains("900001 bytes") && message.contains("at most 900000"), message);
        // Bytes count, not characters.
        assertTrue(refusal("ü".repeat(CacheManager.MAX_MODEL_BYTES / 2 + 1)).contains("at most 900000"));
    }

    @Test
    void pagesHaveAllOfThemAndAreBounded() throws IOException {
        // Bytes behind the end of a model are not read, so this padding makes many large models of one.
        String padding = "x".repeat(CacheManager.MAX_MODEL_BYTES - 10_000);
        Set<String> put = new HashSet<>();
        for (int switches = 0; switches < 10; switches++) {
            String large = text(switches, 1000) + padding;
            put.add(large);
            cluster.putModel(large);
        }
        List<StoredModel> all = new ArrayList<>();
        int pages = 0;
        for (List<StoredModel> page = cluster.models(""); !page.isEmpty(); pages++) {
            assertTrue(page.size() <= 4, page.size() + " models in a page");
            all.addAll(page);
            page = cluster.models(page.getLast().key());
        }
        assertEquals(3, pages);
        assertEquals(10, all.size());
        assertEquals(put, new HashSet<>(all.stream().map(StoredModel::text).toList()));
    }
}
