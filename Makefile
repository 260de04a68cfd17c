# Everything runs in .venv; `make demo` needs nothing but Python 3.11.4 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PYTHONHASHSEED := 0

.PHONY: demo test lint lab book app bench clean

demo: $(VENV)/ready  ## run every notebook on the bundled sample, draw the figures, print the tables
	$(BIN)/qasel notebooks --out runs/notebooks
	$(BIN)/qasel figures
	$(BIN)/python tools/app.py --train
	$(BIN)/qasel table hierarchical-ranking
	$(BIN)/qasel table latent-structured
	$(BIN)/qasel table ms-ranker
	$(BIN)/qasel table question-relevancy
	$(BIN)/qasel table ap-mpcnn

test: $(VENV)/ready lint  ## all tests; those on real data run where QASEL_DATA is set
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist loadfile tests/unit tests/notebooks tests/browser tests/book
	TQDM_DISABLE=1 OMP_NUM_THREADS=1 $(BIN)/pytest --nbval-lax --nbval-current-env notebooks

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lab: $(VENV)/ready  ## JupyterLab in the notebooks folder
	$(BIN)/jupyter lab notebooks

book: $(VENV)/book  ## the notebooks, results and guides as a web site, in build/book
	$(BIN)/python -m sphinx -W --keep-going -q -c docs . build/book
	@echo "Open build/book/index.html"

app: $(VENV)/app  ## the explorers as web pages, on the models that `make demo` left or that it trains first
	$(BIN)/python tools/app.py

bench: $(VENV)/ready  ## benchmarks, as ratios on this machine
	$(BIN)/pytest tests/benchmarks -s

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt "torch==2.13.0"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[notebooks,parse,sweep,test,transformers]"
	@touch $@

$(VENV)/book $(VENV)/app $(VENV)/interop: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$(@F)]"
	@touch $@

clean:  ## remove the environment; models and checkpoints in runs/ stay
	rm -rf $(VENV)
