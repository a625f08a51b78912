"""Writes a Chroma directory as agents fill it. The fixtures beside this file came of it, by the version they are named after:

    pip install chromadb==1.5.9
    python make.py DIRECTORY [IMPROVEMENTS]
"""

import sys

import chromadb

directory = sys.argv[1]
many = int(sys.argv[2]) if len(sys.argv) > 2 else 0
client = chromadb.PersistentClient(path=directory)


def vector(number, dimension=384):
    return [((number * 31 + at * 17) % 101 + 1) / 101 for at in range(dimension)]


def collection(name, purpose):
    metadata = {"agent": "research-specialist", "purpose": purpose, "created_at": "2025-11-18T15:30:00Z"}
    return client.get_or_create_collection(name, metadata=metadata, embedding_function=None)


lessons = [
    "Prefer sources from this year when the user asks for the latest information",
    "When a page answers 429, wait as long as its Retry-After says",
    "Read the table of contents of a long report before its chapters",
    "Quote figures with the page they stand on",
    "Ask which currency is meant before comparing prices",
]
improvements = collection("agent_research-specialist_improvements", "learned_improvements")
improvements.add(
    ids=[f"improvement_research_{at}" for at in range(len(lessons))],
    embeddings=[vector(at) for at in range(len(lessons))],
    documents=lessons,
    metadatas=[
        {
            "agent_name": "research-specialist",
            "category": "search_strategy",
            "learned_from": "feedback_2025-11-18",
            "confidence": 0.85,
            "usage_count": 0,
            "created_at": f"2025-11-18T15:3{at}:00Z",
            "tags": "recency,search",
        }
        for at in range(len(lessons))
    ],
)
# What became of them later.
improvements.update(
    ids=["improvement_research_0"],
    metadatas=[{"usage_count": 4, "success_count": 3, "success_rate": 0.75, "last_used": "2025-12-01T08:00:00Z"}],
)
improvements.update(
    ids=["improvement_research_1"],
    metadatas=[{"usage_count": 10, "success_count": 2, "success_rate": 0.2, "deprecated": True,
                "deprecated_reason": "Low success rate after extensive usage"}],
)
improvements.delete(ids=["improvement_research_2"])
# What others wrote, with fields of their own or with none.
improvements.add(
    ids=["bare", "foreign", "boastful"],
    embeddings=[vector(7), vector(8), vector(9)],
    documents=["Check the date of a preprint", "Skip paywalled mirrors of open papers", "Trust nothing"],
    metadatas=[{"note": "by hand"}, {"ticket": 42, "weight": 0.5, "reviewed": True}, {"confidence": 85}],
)
try:
    # Newer releases take lists.
    improvements.update(ids=["bare"], metadatas=[{"tags": ["preprints", "dates"]}])
except ValueError as refused:
    print(refused, file=sys.stderr)
improvements.add(ids=["silent"], embeddings=[vector(10)], metadatas=[{"category": "search_strategy"}])

project = collection("agent_research-specialist_project_0123456789ab_improvements", "learned_improvements")
project.add(
    ids=["improvement_project_1"],
    embeddings=[vector(11)],
    documents=["In this project citations are numbered in square brackets"],
    metadatas=[{"category": "naming_conventions", "confidence": 0.9, "created_at": "2025-11-19T10:00:00Z"}],
)

evaluations = collection("agent_research-specialist_evaluations", "self_evaluations")
evaluations.add(
    ids=["eval_1763479800000", "eval_1763479900000"],
    embeddings=[vector(12), vector(13)],
    documents=[
        "Task: Find the newest survey. Result: Success. Quality: 85/100. Insights: Filter by date",
        "Task: Compare two vendors. Result: Failure. Quality: 20/100. Insights: ",
    ],
    metadatas=[
        {"task_type": "research", "success": True, "quality_score": 85, "time_taken_ms": 1200,
         "tokens_used": 900, "timestamp": "2025-11-18T15:30:00Z"},
        {"task_type": "research", "success": False, "quality_score": 20, "timestamp": "2025-11-18T15:31:40Z"},
    ],
)

performance = collection("agent_research-specialist_performance", "performance_metrics")
performance.add(
    ids=["perf_1763480000000"],
    embeddings=[vector(14)],
    documents=["Performance snapshot: 50% success, quality 52.5/100, 5 improvements"],
    metadatas=[{"total_tasks": 2, "successful_tasks": 1, "success_rate": 0.5, "avg_quality": 52.5,
                "quality_trend": -65.0, "improvements_stored": 5, "timestamp": "2025-11-18T16:00:00Z"}],
)

# Of another model, and nobody's memory.
recipes = client.get_or_create_collection("recipes", embedding_function=None)
recipes.add(ids=["soup"], embeddings=[vector(15, 3)], documents=["Leek and potato"], metadatas=[{"serves": 4}])

for start in range(0, many, 500):
    numbers = range(start, min(start + 500, many))
    improvements.add(
        ids=[f"improvement_many_{at}" for at in numbers],
        embeddings=[vector(at) for at in numbers],
        documents=[f"Step {at} of the checklist: verify reading {at * 7919 % 100003} against its source" for at in numbers],
        metadatas=[{"category": "search_strategy", "confidence": 0.8, "created_at": "2025-11-20T10:00:00Z"} for _ in numbers],
    )
